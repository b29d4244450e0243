#include "raw_fix.h"

#define FIX_YEAR_NS (INT64_C(365) * 86400 * 1000000000)

void sp_raw_fix_time(sp_raw_profile *profile, int64_t from_ns) {
  if (profile->time_ns >= 0 && profile->time_ns < FIX_YEAR_NS)
    profile->time_ns = from_ns;
}

/* Join a file and a function to a name such as "lib/a.rb leaf". */
static spanprof_status fix_join(sp_raw_profile *profile, sp_view file,
                                sp_view name, sp_view *out,
                                sp_refusal *refusal) {
  const size_t size = file.size + 1 + name.size;
  spanprof_status st;
  char *text;

  st = sp_raw_new(profile->arena, size, 1, &text, refusal);
  if (st)
    return st;
  if (file.size)
    memcpy(text, file.bytes, file.size);
  text[file.size] = ' ';
  if (name.size)
    memcpy(text + file.size + 1, name.bytes, name.size);
  *out = sp_view_of(text, size);
  return SPANPROF_OK;
}

spanprof_status sp_raw_fix_names(sp_raw_profile *profile, sp_view spy,
                                 sp_refusal *refusal) {
  const bool is_python = sp_view_is(spy, "pyspy");
  spanprof_status st;
  sp_view *texts;
  size_t i;

  if (!is_python && !sp_view_is(spy, "rbspy") && !sp_view_is(spy, "scripting"))
    return SPANPROF_OK;
  st = sp_raw_new(profile->arena, profile->text_count + profile->function_count,
                  sizeof *texts, &texts, refusal);
  if (st)
    return st;
  if (profile->text_count)
    memcpy(texts, profile->texts, profile->text_count * sizeof *texts);
  profile->texts = texts;
  for (i = 0; !st && i < profile->function_count; i++) {
    sp_raw_function *function = &profile->functions[i];
    const sp_view file = sp_raw_text(profile, function->file);
    const sp_view name = sp_raw_text(profile, function->name);

    if (is_python && sp_view_starts(file, "/"))
      continue;
    st = fix_join(profile, file, name, &texts[profile->text_count], refusal);
    function->name = (int64_t)profile->text_count++;
  }
  return st;
}

static spanprof_status fix_dashes(sp_raw_profile *profile, sp_view *text,
                                  sp_refusal *refusal) {
  spanprof_status st;
  char *copy;
  size_t i;

  if (!sp_view_contains(*text, "-"))
    return SPANPROF_OK;
  st = sp_raw_new(profile->arena, text->size, 1, &copy, refusal);
  if (st)
    return st;
  for (i = 0; i < text->size; i++)
    copy[i] = text->bytes[i] == '-' ? '_' : text->bytes[i];
  text->bytes = copy;
  return SPANPROF_OK;
}

spanprof_status sp_raw_fix_dotnet(sp_raw_profile *profile,
                                  sp_refusal *refusal) {
  spanprof_status st = SPANPROF_OK;
  bool has_ids = false;
  size_t i;

  for (i = 0; i < profile->function_count; i++)
    has_ids |= profile->functions[i].id != 0;
  if (!has_ids && profile->function_count == profile->location_count)
    for (i = 0; i < profile->function_count; i++)
      profile->functions[i].id = profile->locations[i].id;
  for (i = 0; !st && i < profile->type_count; i++) {
    const int64_t type = profile->types[i].type;

    if (type >= 0 && (uint64_t)type < profile->text_count)
      st = fix_dashes(profile, &profile->texts[type], refusal);
  }
  return st;
}
