#include "report_labels.h"

#include <string.h>

#include "util/system/status.h"

/* Size of the text of a numeric label value with its unit. */
#define LABEL_NUMBER_BYTES 120

/* Labels whose value differs in nearly every request. */
static const char *const label_ids[] = {"profile_id", "span_id", "trace_id"};

static spanprof_status label_row_new(sp_report *report, uint64_t hash,
                                     const sp_report_label_row *row) {
  spanprof_status st = sp_mem_reserve(
      report->mem, (void **)&report->labels, &report->label_capacity,
      report->label_count + 1, sizeof *report->labels);

  if (!st)
    st = sp_index_reserve(&report->label_index, report->mem);
  if (st)
    return sp_fail(
        st, "too many label values: limit them with a filter such as --label");
  sp_index_add(&report->label_index, hash, (uint32_t)report->label_count);
  report->labels[report->label_count++] = *row;
  return SPANPROF_OK;
}

static spanprof_status label_add(sp_report *report, const char *key,
                                 size_t key_bytes, const char *value,
                                 const sp_amount *amount) {
  sp_report_label_row row = {.last_sample = report->samples, .amount = *amount};
  const char *text =
      report->label_count < report->label_values_max ? value : SP_REPORT_OTHER;
  uint64_t hash;
  uint32_t at, i;
  spanprof_status st =
      sp_name_table_intern(&report->names, key, key_bytes, &row.key);

  if (!st)
    st = sp_name_table_intern(&report->names, text, strlen(text), &row.value);
  if (st)
    return sp_fail(
        st, "too many label values: limit them with a filter such as --label");
  hash = sp_hash_mix(sp_hash_mix(row.key, SP_HASH_SEED), row.value);
  for (i = sp_index_first(&report->label_index, hash, &at); i != SP_INDEX_NONE;
       i = sp_index_next(&report->label_index, hash, &at)) {
    sp_report_label_row *known = &report->labels[i];

    if (known->key != row.key || known->value != row.value)
      continue;
    /* A sample with the same label twice counts once. */
    if (known->last_sample != row.last_sample)
      sp_amount_add(&known->amount, amount);
    known->last_sample = row.last_sample;
    return SPANPROF_OK;
  }
  return label_row_new(report, hash, &row);
}

static bool label_is_id(const char *key, size_t bytes) {
  size_t i;

  for (i = 0; i < SP_COUNT_OF(label_ids); i++)
    if (strlen(label_ids[i]) == bytes && !memcmp(label_ids[i], key, bytes))
      return true;
  return false;
}

static spanprof_status label_add_sample(sp_report *report,
                                        const sp_pprof *profile,
                                        const sp_pprof_sample *sample,
                                        const sp_amount *amount) {
  char number[LABEL_NUMBER_BYTES];
  spanprof_status st = SPANPROF_OK;
  const char *name;
  uint64_t id;
  uint32_t i;

  for (i = 0; i < sample->label_count && !st; i++) {
    const sp_pprof_label *label = &sample->labels[i];
    const size_t bytes = strlen(label->key);

    if (!label_is_id(label->key, bytes) &&
        !sp_report_label_ancestor(label, &id, &name))
      st = label_add(report, label->key, bytes,
                     sp_report_label_value(profile, sample, label->key, number,
                                           sizeof number),
                     amount);
  }
  return st;
}

/* Add the labels of the whole profile that the sample does not have itself. */
static spanprof_status label_add_profile(sp_report *report,
                                         const sp_pprof *profile,
                                         const sp_pprof_sample *sample,
                                         const sp_amount *amount) {
  spanprof_status st = SPANPROF_OK;
  const char *key, *value;
  size_t i, bytes;
  uint32_t k;

  for (i = 0; i < profile->comment_count && !st; i++) {
    value = sp_profile_label_at(profile, i, &key, &bytes);
    for (k = 0; value && k < sample->label_count; k++)
      if (strlen(sample->labels[k].key) == bytes &&
          !memcmp(sample->labels[k].key, key, bytes))
        value = NULL;
    if (value)
      st = label_add(report, key, bytes, value, amount);
  }
  return st;
}

spanprof_status sp_report_labels_add(sp_report *report, const sp_pprof *profile,
                                     const sp_pprof_sample *sample,
                                     const sp_amount *amount) {
  const sp_report_options *options = report->options;
  char number[LABEL_NUMBER_BYTES];
  const char *value;
  spanprof_status st = SPANPROF_OK;

  if (options->group_by) {
    value = sp_report_label_value(profile, sample, options->group_by, number,
                                  sizeof number);
    return label_add(report, options->group_by, strlen(options->group_by),
                     value ? value : SP_REPORT_NO_VALUE, amount);
  }
  if (options->all_labels)
    st = label_add_sample(report, profile, sample, amount);
  if (!st && options->all_labels)
    st = label_add_profile(report, profile, sample, amount);
  return st;
}
