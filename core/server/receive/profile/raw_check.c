#include "raw_check.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "util/text/utf8.h"

#define CHECK_TIME_BYTES 64

static spanprof_status check_refuse(sp_refusal *refusal, const char *what) {
  return sp_refuse(refusal, SP_REFUSAL_INVALID, "%s", what);
}

/* Format a time as "2026-08-21T10:00:00.123Z". */
static void check_time_text(int64_t time_ns, char *out) {
  const time_t seconds = (time_t)(time_ns / (int64_t)SP_NS_PER_S);
  const int ms = (int)(time_ns / (int64_t)SP_NS_PER_MS % 1000);
  struct tm parts;

  if (!gmtime_r(&seconds, &parts)) {
    snprintf(out, CHECK_TIME_BYTES, "%" PRId64 " ns", time_ns);
    return;
  }
  out += strftime(out, CHECK_TIME_BYTES / 2, "%Y-%m-%dT%H:%M:%S", &parts);
  if (ms > 0)
    snprintf(out, CHECK_TIME_BYTES / 2, ".%03dZ", ms);
  else
    snprintf(out, CHECK_TIME_BYTES / 2, "Z");
}

static spanprof_status check_window(const sp_raw_profile *profile,
                                    const sp_raw_window *window,
                                    const char *labels, sp_refusal *refusal) {
  char time[CHECK_TIME_BYTES], from[CHECK_TIME_BYTES], until[CHECK_TIME_BYTES];

  if (profile->time_ns > window->from_ns && profile->time_ns < window->until_ns)
    return SPANPROF_OK;
  check_time_text(profile->time_ns, time);
  check_time_text(window->from_ns, from);
  check_time_text(window->until_ns, until);
  return sp_refuse(
      refusal, SP_REFUSAL_INVALID,
      "profile with labels '%s' is outside of ingestion window (profile "
      "timestamp: %s, the ingestion window starts at %s and ends at %s)",
      labels, time, from, until);
}

/* The profile that is checked, and everything that the check needs. */
typedef struct check_work {
  sp_raw_profile *profile;
  const sp_raw_window *window;
  const sp_limits *limits;
  const char *labels; /* labels of the series as text, for messages */
  sp_refusal *refusal;
} check_work;

/* Cut the beginning of texts that are too long, so that the remaining part
 * begins at a character. */
static void check_cut_texts(sp_raw_profile *profile) {
  size_t i;

  for (i = 0; i < profile->text_count; i++) {
    sp_view *text = &profile->texts[i];

    if (text->size <= SP_RAW_TEXT_MAX)
      continue;
    text->bytes += text->size - SP_RAW_TEXT_MAX;
    text->size = SP_RAW_TEXT_MAX;
    while (text->size && ((uint8_t)text->bytes[0] & 0xc0) == 0x80)
      text->bytes++, text->size--;
  }
}

static spanprof_status check_ids(const sp_raw_profile *profile,
                                 sp_refusal *refusal) {
  size_t i;

  for (i = 0; i < profile->location_count; i++)
    if (!profile->locations[i].id)
      return check_refuse(refusal, "location id is 0");
  for (i = 0; i < profile->function_count; i++)
    if (!profile->functions[i].id)
      return check_refuse(refusal, "function id is 0");
  return SPANPROF_OK;
}

/* Returns whether the number of a text is outside the table. With
 * `negative_too`, negative numbers are outside, too: this is for labels and
 * types, where Pyroscope panics on them. Elsewhere, they stand for an empty
 * text. */
static bool check_is_out(const sp_raw_profile *profile, int64_t text,
                         bool negative_too) {
  return text < 0 ? negative_too : (uint64_t)text >= profile->text_count;
}

static spanprof_status check_label_texts(const sp_raw_profile *profile,
                                         const sp_raw_sample *sample,
                                         sp_refusal *refusal) {
  size_t i;

  for (i = 0; i < sample->label_count; i++) {
    const sp_raw_label *label = &sample->labels[i];

    if (check_is_out(profile, label->text, true) ||
        check_is_out(profile, label->key, true))
      return check_refuse(refusal, "sample label string index out of range");
    if (label->text && check_is_out(profile, label->unit, true))
      return check_refuse(refusal,
                          "sample label unit string index out of range");
  }
  return SPANPROF_OK;
}

static spanprof_status check_sample(const check_work *work,
                                    const sp_raw_sample *sample) {
  if (sample->label_count > work->limits->sample_labels)
    return sp_refuse(work->refusal, SP_REFUSAL_INVALID,
                     "the profile with labels '%s' exceeds the sample labels "
                     "limit (max_profile_stacktrace_sample_labels, actual: "
                     "%zu, limit: %zu)",
                     work->labels, sample->label_count,
                     work->limits->sample_labels);
  if (sample->value_count != work->profile->type_count)
    return check_refuse(work->refusal, "sample value length mismatch");
  return check_label_texts(work->profile, sample, work->refusal);
}

static spanprof_status check_samples(const check_work *work) {
  const sp_raw_profile *profile = work->profile;
  spanprof_status st = SPANPROF_OK;
  sp_raw_samples samples;
  size_t i;

  sp_raw_samples_init(&samples, profile);
  for (i = 0; !st && i < profile->sample_count; i++) {
    const sp_raw_sample *sample = sp_raw_samples_at(&samples, i);

    st = sample ? check_sample(work, sample) : SPANPROF_ERR_NOMEM;
  }
  sp_raw_samples_dispose(&samples);
  return st;
}

static spanprof_status check_function_texts(const sp_raw_profile *profile,
                                            sp_refusal *refusal) {
  size_t i;

  for (i = 0; i < profile->function_count; i++) {
    const sp_raw_function *function = &profile->functions[i];

    if (check_is_out(profile, function->name, false))
      return check_refuse(refusal, "function name string index out of range");
    if (check_is_out(profile, function->system_name, false))
      return check_refuse(refusal,
                          "function system name index string out of range");
    if (check_is_out(profile, function->file, false))
      return check_refuse(refusal,
                          "function file name string index out of range");
  }
  for (i = 0; i < profile->mapping_count; i++) {
    if (check_is_out(profile, profile->mappings[i].file, false))
      return check_refuse(refusal,
                          "mapping file name string index out of range");
    if (check_is_out(profile, profile->mappings[i].build_id, false))
      return check_refuse(refusal,
                          "mapping build id string index out of range");
  }
  return SPANPROF_OK;
}

static spanprof_status check_utf8(const sp_raw_profile *profile,
                                  sp_refusal *refusal) {
  char hex[2 * 64 + 1];
  size_t i, k;

  for (i = 0; i < profile->text_count; i++) {
    const sp_view text = profile->texts[i];

    if (sp_utf8_valid(text.bytes, text.size))
      continue;
    for (k = 0; k < text.size && k < 64; k++)
      snprintf(hex + 2 * k, 3, "%02x", (uint8_t)text.bytes[k]);
    return sp_refuse(refusal, SP_REFUSAL_INVALID, "invalid utf8 string hex: %s",
                     hex);
  }
  return SPANPROF_OK;
}

static spanprof_status check_texts(const sp_raw_profile *profile,
                                   sp_refusal *refusal) {
  spanprof_status st;
  size_t i;

  if (!profile->text_count || profile->texts[0].size)
    return check_refuse(refusal, "string 0 should be empty string");
  for (i = 0; i < profile->type_count; i++)
    if (check_is_out(profile, profile->types[i].type, true))
      return check_refuse(refusal,
                          "sample type type string index out of range");
  st = check_function_texts(profile, refusal);
  if (st)
    return st;
  for (i = 0; i < profile->type_count; i++)
    if (sp_view_contains(sp_raw_text(profile, profile->types[i].type), "-"))
      return check_refuse(refusal, "sample type contains -");
  return check_utf8(profile, refusal);
}

static spanprof_status check_all(const check_work *work) {
  sp_raw_profile *profile = work->profile;
  sp_refusal *refusal = work->refusal;
  spanprof_status st = SPANPROF_OK;

  if (!profile->type_count)
    return check_refuse(refusal, "empty profile");
  if (profile->type_count > SP_RAW_TYPES_MAX)
    return sp_refuse(refusal, SP_REFUSAL_INVALID,
                     "the profile with labels '%s' has %zu sample types; limit "
                     "%zu",
                     work->labels, profile->type_count, SP_RAW_TYPES_MAX);
  if (profile->time_ns > 0)
    st = check_window(profile, work->window, work->labels, refusal);
  else
    profile->time_ns = work->window->now_ns;
  if (!st && profile->sample_count > work->limits->samples)
    st = sp_refuse(refusal, SP_REFUSAL_INVALID,
                   "the profile with labels '%s' exceeds the samples count "
                   "limit (max_profile_stacktrace_samples, actual: %zu, "
                   "limit: %zu)",
                   work->labels, profile->sample_count, work->limits->samples);
  if (st)
    return st;
  check_cut_texts(profile);
  st = check_ids(profile, refusal);
  if (!st)
    st = check_samples(work);
  return st ? st : check_texts(profile, refusal);
}

spanprof_status sp_raw_check(sp_raw_profile *profile,
                             const sp_raw_window *window,
                             const sp_limits *limits,
                             const sp_series_labels *labels,
                             sp_refusal *refusal) {
  check_work work = {.profile = profile,
                     .window = window,
                     .limits = limits,
                     .refusal = refusal};
  spanprof_status st;
  sp_buffer all;

  sp_buffer_init(&all, labels->mem);
  sp_series_labels_print(labels, &all);
  sp_buffer_append(&all, "", 1);
  st = sp_buffer_status(&all);
  work.labels = all.data;
  if (!st)
    st = check_all(&work);
  sp_buffer_dispose(&all);
  return st;
}
