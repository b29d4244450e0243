#include "adhoc_profile.h"

#include <stdlib.h>
#include <string.h>

#include "adhoc_folded.h"
#include "adhoc_json.h"
#include "perf_script.h"
#include "profile/pprof/gunzip.h"
#include "profile/pprof/pprof_reader.h"
#include "profile/tables/module_name.h"
#include "server/model/sum.h"
#include "server/query/selector/matcher_list.h"
#include "util/text/utf8.h"

/* Largest decompressed file, as in Pyroscope. */
#define ADHOC_BYTES_MAX ((size_t)4 << 20)

static spanprof_status adhoc_refuse(sp_query_fault *fault, const char *what) {
  return sp_query_refuse(fault, SP_CODE_INVALID, "failed to parse profile: %s",
                         what);
}

static spanprof_status adhoc_types(sp_adhoc_profile *out, sp_arena *arena,
                                   size_t count) {
  out->types = sp_arena_new(arena, count, sizeof *out->types);
  out->type_count = count;
  return out->types ? SPANPROF_OK : arena->st;
}

typedef struct pprof_names {
  uint32_t *functions; /* SP_INDEX_NONE: the function has no name */
  uint32_t *modules;   /* one for each mapping; the last is for frames without a
                        * mapping */
} pprof_names;

/* Get the tree node for the stack of a sample. */
static spanprof_status pprof_stack(const sp_pprof *profile,
                                   const sp_pprof_sample *sample,
                                   const pprof_names *names,
                                   sp_function_tree *tree, uint32_t *node) {
  spanprof_status st;
  uint32_t i, j;

  *node = 0;
  for (i = sample->location_count; i > 0; i--) {
    const sp_pprof_location *location =
        &profile->locations[sample->locations[i - 1]];
    const size_t module = sp_min_u64(location->mapping, profile->mapping_count);

    for (j = (uint32_t)sp_max_u64(location->line_count, 1); j > 0; j--) {
      uint32_t name = location->line_count
                          ? names->functions[location->lines[j - 1].function]
                          : SP_INDEX_NONE;

      if (name == SP_INDEX_NONE)
        name = names->modules[module];
      st = sp_call_tree_child(&tree->calls, node, name);
      if (st)
        return st;
    }
  }
  return SPANPROF_OK;
}

static spanprof_status pprof_name_all(const sp_pprof *profile, sp_arena *arena,
                                      sp_function_tree *tree,
                                      pprof_names *out) {
  char module[SP_MODULE_NAME_BYTES];
  spanprof_status st = SPANPROF_OK;
  size_t i;

  out->functions =
      sp_arena_new(arena, profile->function_count + 1, sizeof *out->functions);
  out->modules =
      sp_arena_new(arena, profile->mapping_count + 1, sizeof *out->modules);
  if (!out->functions || !out->modules)
    return arena->st;
  for (i = 0; !st && i < profile->function_count; i++) {
    const sp_pprof_function *function = &profile->functions[i];
    const char *name = *function->name ? function->name : function->system_name;

    out->functions[i] = SP_INDEX_NONE;
    if (*name)
      st = sp_function_tree_name(tree, name, strlen(name), &out->functions[i]);
  }
  for (i = 0; !st && i <= profile->mapping_count; i++) {
    const char *file =
        i < profile->mapping_count ? profile->mappings[i].file : "";

    st = sp_function_tree_name(tree, module,
                               sp_module_name(file, strlen(file), module),
                               &out->modules[i]);
  }
  return st;
}

static spanprof_status pprof_describe(sp_adhoc_profile *out, sp_arena *arena,
                                      const sp_pprof *profile,
                                      const char *type) {
  const char *unit;
  size_t i;
  spanprof_status st = adhoc_types(out, arena, profile->type_count);

  for (i = 0; !st && i < profile->type_count; i++) {
    const char *name = profile->types[i].type;

    out->types[i] = sp_arena_text(arena, name, strlen(name));
    if (!out->types[i])
      return arena->st;
    if (type && strcmp(type, name) == 0)
      out->type = i;
  }
  if (st)
    return st;
  unit = profile->types[out->type].unit;
  unit = sp_arena_text(arena, unit, strlen(unit));
  if (!unit)
    return arena->st;
  sp_flamebearer_units(out->types[out->type], unit, &out->bearer);
  return SPANPROF_OK;
}

/* Decompress a gzip file into `unpacked` and set *bytes to the result. */
static spanprof_status adhoc_unpack(sp_buffer *unpacked, const void **bytes,
                                    size_t *size, sp_query_fault *fault) {
  spanprof_status st = SPANPROF_OK;

  if (sp_gunzip_is(*bytes, *size)) {
    st = sp_gunzip(unpacked, *bytes, *size, ADHOC_BYTES_MAX);
    *bytes = unpacked->data;
    *size = unpacked->size;
  }
  if (st == SPANPROF_ERR_LIMIT || (!st && *size > ADHOC_BYTES_MAX))
    return adhoc_refuse(fault, "the file has more than 4 MiB");
  return st == SPANPROF_ERR_FORMAT
             ? adhoc_refuse(fault, "the gzip data is malformed")
             : st;
}

static spanprof_status adhoc_pprof(sp_adhoc_profile *out, sp_arena *arena,
                                   const void *bytes, size_t size, bool is_text,
                                   const char *type, sp_function_tree *tree,
                                   uint32_t side, sp_query_fault *fault) {
  sp_pprof *profile = NULL;
  pprof_names names;
  uint32_t node;
  size_t i;
  spanprof_status st = sp_pprof_read(&profile, arena->mem, bytes, size);

  if (st == SPANPROF_ERR_FORMAT || st == SPANPROF_ERR_LIMIT)
    return adhoc_refuse(
        fault, is_text
                   ? "the file is text of another kind: neither folded stacks, "
                     "the output of perf script nor JSON"
                   : spanprof_last_error());
  if (!st)
    st = pprof_describe(out, arena, profile, type);
  if (!st)
    st = pprof_name_all(profile, arena, tree, &names);
  for (i = 0; !st && i < profile->sample_count; i++) {
    const int64_t value = profile->samples[i].values[out->type];

    /* Differences of profiles have negative values, which are skipped. */
    if (value <= 0)
      continue;
    st = pprof_stack(profile, &profile->samples[i], &names, tree, &node);
    if (!st)
      sp_increase(sp_function_tree_self(tree, node, side), value);
  }
  sp_pprof_free(profile);
  return st;
}

/* Recognise an unsupported kind of file by its beginning. Returns how to
 * convert such a file into a profile, or NULL if the kind is not known. */
static const char *adhoc_other_kind(const char *bytes, size_t size) {
  static const struct {
    const char *begins;
    size_t size;
    const char *hint;
  } kinds[] = {
      {"\xff\xfe", 2, "the file is text in UTF-16: save it as UTF-8"},
      {"\xfe\xff", 2, "the file is text in UTF-16: save it as UTF-8"},
      {"PERFILE", 7, "the file is perf.data: send the output of perf script"},
      {"heap profile:", 13, "convert the file with go tool pprof -proto"},
      {"goroutine profile:", 18, "convert the file with go tool pprof -proto"},
      {"--- ", 4, "convert the file with go tool pprof -proto"},
  };
  size_t i;

  for (i = 0; i < SP_COUNT_OF(kinds); i++)
    if (size >= kinds[i].size &&
        memcmp(bytes, kinds[i].begins, kinds[i].size) == 0)
      return kinds[i].hint;
  return NULL;
}

/* Read a text file. Each format is recognised by its own features, because
 * folded stacks may begin like JSON. Sets *is_known to whether the format is
 * known. */
static spanprof_status adhoc_text(sp_adhoc_profile *out, sp_arena *arena,
                                  const char *name, const char *text,
                                  size_t size, const char *type,
                                  sp_function_tree *tree, uint32_t side,
                                  bool *is_known, sp_query_fault *fault) {
  const char first = text[strspn(text, " \t\r\n")];

  *is_known = true;
  out->bearer = (sp_flamebearer){.name = name,
                                 .units = "",
                                 .sample_rate = 100,
                                 .spy = "unknown",
                                 .groups_empty = true};
  if (sp_perf_script_is(text, size))
    return sp_perf_script_read(out, arena, text, size, type, tree, side);
  if (sp_adhoc_folded_is(name, text, size))
    return sp_adhoc_folded_read(out, arena, name, text, size, type, tree, side,
                                fault);
  if (first == '{' || first == '[')
    return sp_adhoc_json_read(out, arena, text, size, type, tree, side, fault);
  *is_known = false;
  return SPANPROF_OK;
}

static bool adhoc_is_text(const char *bytes, size_t size) {
  return !memchr(bytes, '\0', size) && sp_utf8_valid(bytes, size);
}

/* Read a file. If it has no NUL byte, it is read as text, with a NUL appended.
 */
static spanprof_status adhoc_read(sp_adhoc_profile *out, sp_arena *arena,
                                  const char *name, const void *bytes,
                                  size_t size, const char *type,
                                  sp_function_tree *tree, uint32_t side,
                                  sp_query_fault *fault) {
  const bool is_text = adhoc_is_text(bytes, size);
  const char *other = adhoc_other_kind(bytes, size), *text;
  bool is_known = false;
  spanprof_status st = SPANPROF_OK;

  if (size == 0)
    return adhoc_refuse(fault, "the file is empty");
  if (other)
    return adhoc_refuse(fault, other);
  if (is_text) {
    text = sp_arena_text(arena, bytes, size);
    if (!text)
      return arena->st;
    if (!text[strspn(text, " \t\r\n")])
      return adhoc_refuse(fault, "the file is empty");
    st = adhoc_text(out, arena, name, text, size, type, tree, side, &is_known,
                    fault);
  }
  if (is_known)
    return st;
  memset(out, 0, sizeof *out);
  return adhoc_pprof(out, arena, bytes, size, is_text, type, tree, side, fault);
}

spanprof_status sp_adhoc_profile_read(sp_adhoc_profile *out, sp_arena *arena,
                                      const char *name, const void *bytes,
                                      size_t size, const char *type,
                                      sp_function_tree *tree, uint32_t side,
                                      sp_query_fault *fault) {
  sp_buffer unpacked;
  spanprof_status st;

  memset(out, 0, sizeof *out);
  sp_buffer_init(&unpacked, arena->mem);
  st = adhoc_unpack(&unpacked, &bytes, &size, fault);
  if (!st)
    st = adhoc_read(out, arena, name, bytes, size, type, tree, side, fault);
  sp_buffer_dispose(&unpacked);
  return st;
}
