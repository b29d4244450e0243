#include "report_filter.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "command/shared/profile_origin.h"
#include "profile/tables/pprof_limits.h"
#include "util/text/hex.h"

#define SPAN_ID_DIGITS 16

bool sp_span_id_parse(const char *text, uint64_t *out) {
  uint64_t id = 0;
  size_t i;

  for (i = 0; i < SPAN_ID_DIGITS; i++) {
    const int digit = sp_hex_digit(text[i]);

    if (digit < 0)
      return false;
    id = id << 4 | (uint64_t)digit;
  }
  *out = id;
  return text[SPAN_ID_DIGITS] == '\0';
}

bool sp_report_sample_span(const sp_pprof_sample *sample, uint64_t *out) {
  uint32_t i;

  for (i = sample->label_count; i > 0; i--) {
    const sp_pprof_label *label = &sample->labels[i - 1];

    if (label->text &&
        (strcmp(label->key, "profile_id") == 0 ||
         strcmp(label->key, "span_id") == 0) &&
        sp_span_id_parse(label->text, out))
      return true;
  }
  return false;
}

const char *sp_report_sample_span_name(const sp_pprof_sample *sample) {
  const char *name = sp_pprof_label_text(sample, "span_name");

  return name ? name : sp_pprof_label_text(sample, "span");
}

bool sp_report_label_ancestor(const sp_pprof_label *label, uint64_t *id,
                              const char **name) {
  static const char before[] = SP_PPROF_ANCESTOR;

  if (label->text || strncmp(label->key, before, sizeof before - 1) != 0)
    return false;
  *id = (uint64_t)label->number;
  *name = label->key + sizeof before - 1;
  return true;
}

static bool filter_matches_span(const sp_report_filter *filter,
                                const sp_pprof_sample *sample) {
  const char *name;
  uint64_t id;
  uint32_t i;

  if (sp_report_sample_span(sample, &id) && id == filter->span)
    return true;
  for (i = 0; i < sample->label_count && !filter->self; i++) {
    if (sp_report_label_ancestor(&sample->labels[i], &id, &name) &&
        id == filter->span)
      return true;
  }
  return false;
}

static bool filter_matches_span_name(const sp_report_filter *filter,
                                     const sp_pprof_sample *sample) {
  const char *name = sp_report_sample_span_name(sample);
  uint64_t id;
  uint32_t i;

  if (name && strcmp(name, filter->span_name) == 0)
    return true;
  for (i = 0; i < sample->label_count && !filter->self; i++) {
    if (sp_report_label_ancestor(&sample->labels[i], &id, &name) &&
        strcmp(name, filter->span_name) == 0)
      return true;
  }
  return false;
}

static bool filter_label_is(const sp_pprof_label *have,
                            const sp_report_label *want) {
  char number[24];

  if (strlen(have->key) != want->key_bytes ||
      memcmp(have->key, want->key, want->key_bytes) != 0)
    return false;
  if (have->text)
    return strcmp(have->text, want->value) == 0;
  snprintf(number, sizeof number, "%" PRId64, have->number);
  return strcmp(number, want->value) == 0;
}

static bool filter_matches_label(const sp_pprof *profile,
                                 const sp_pprof_sample *sample,
                                 const sp_report_label *want) {
  const char *value;
  bool own = false;
  uint32_t i;

  for (i = 0; i < sample->label_count; i++) {
    if (filter_label_is(&sample->labels[i], want))
      return true;
    own =
        own || (strlen(sample->labels[i].key) == want->key_bytes &&
                memcmp(sample->labels[i].key, want->key, want->key_bytes) == 0);
  }
  value = own ? NULL : sp_profile_label(profile, want->key, want->key_bytes);
  return value && strcmp(value, want->value) == 0;
}

const char *sp_report_label_value(const sp_pprof *profile,
                                  const sp_pprof_sample *sample,
                                  const char *key, char *number, size_t size) {
  const char *text = sp_pprof_label_text(sample, key);
  uint32_t i;

  for (i = 0; i < sample->label_count && !text; i++)
    if (strcmp(sample->labels[i].key, key) == 0) {
      snprintf(number, size, "%" PRId64 "%s%s", sample->labels[i].number,
               *sample->labels[i].unit ? " " : "", sample->labels[i].unit);
      return number;
    }
  return text ? text : sp_profile_label(profile, key, strlen(key));
}

bool sp_report_filter_matches(const sp_report_filter *filter,
                              const sp_pprof *profile,
                              const sp_pprof_sample *sample) {
  size_t i;

  if (filter->by_span && !filter_matches_span(filter, sample))
    return false;
  if (filter->span_name && !filter_matches_span_name(filter, sample))
    return false;
  for (i = 0; i < filter->label_count; i++) {
    if (!filter_matches_label(profile, sample, &filter->labels[i]))
      return false;
  }
  return true;
}

spanprof_status sp_report_filter_label(sp_report_filter *filter,
                                       const char *text) {
  const char *equals = strchr(text, '=');
  sp_report_label *label;

  if (!equals || equals == text)
    return SPANPROF_ERR_ARGUMENT;
  if (filter->label_count == SP_REPORT_LABELS_MAX)
    return SPANPROF_ERR_LIMIT;
  label = &filter->labels[filter->label_count++];
  label->key = text;
  label->key_bytes = (size_t)(equals - text);
  label->value = equals + 1;
  return SPANPROF_OK;
}
