#include "report_spans.h"

#include <stdlib.h>
#include <string.h>

#include "util/system/status.h"

/* Get the index of a span name. Adds the name if it is new. */
static spanprof_status report_span_name(sp_report *report, const char *text,
                                        uint32_t *out) {
  uint32_t name, at, i;
  uint64_t hash;
  spanprof_status st =
      sp_name_table_intern(&report->names, text, strlen(text), &name);

  if (st)
    return sp_fail(
        st, "too many span names: limit them with a filter such as --label");
  hash = sp_hash_mix(name, SP_HASH_SEED);
  for (i = sp_index_first(&report->span_name_index, hash, &at);
       i != SP_INDEX_NONE;
       i = sp_index_next(&report->span_name_index, hash, &at)) {
    if (report->span_names[i].name == name) {
      *out = i;
      return SPANPROF_OK;
    }
  }
  st = sp_mem_reserve(report->mem, (void **)&report->span_names,
                      &report->span_name_capacity, report->span_name_count + 1,
                      sizeof *report->span_names);
  if (!st)
    st = sp_index_reserve(&report->span_name_index, report->mem);
  if (st)
    return sp_fail(
        st, "too many span names: limit them with a filter such as --label");
  *out = (uint32_t)report->span_name_count;
  report->span_names[report->span_name_count++] =
      (sp_report_span_name){.name = name};
  sp_index_add(&report->span_name_index, hash, *out);
  return SPANPROF_OK;
}

spanprof_status sp_report_spans_init(sp_report *report) {
  uint32_t none;

  return report_span_name(report, SP_REPORT_NO_SPAN, &none);
}

static int report_span_larger(const void *a, const void *b) {
  const sp_report_span *left = a, *right = b;

  if (left->total.value != right->total.value)
    return left->total.value < right->total.value ? 1 : -1;
  return left->id < right->id ? -1 : left->id > right->id;
}

/* Forget the half of the spans that has the smallest totals. If a forgotten
 * span has further samples, it gets a new entry, whose total is too small. */
static void report_spans_shrink(sp_report *report) {
  size_t i, keep = report->span_count / 2;

  qsort(report->spans, report->span_count, sizeof *report->spans,
        report_span_larger);
  for (i = keep; i < report->span_count; i++)
    report->span_names[report->spans[i].name].spans++;
  report->forgotten_spans += report->span_count - keep;
  report->span_count = keep;
  sp_index_clear(&report->span_index);
  for (i = 0; i < keep; i++)
    sp_index_add(&report->span_index,
                 sp_hash_mix(report->spans[i].id, SP_HASH_SEED), (uint32_t)i);
}

static spanprof_status report_span(sp_report *report, uint64_t id,
                                   sp_report_span **out) {
  const uint64_t hash = sp_hash_mix(id, SP_HASH_SEED);
  spanprof_status st;
  uint32_t at, i;

  for (i = sp_index_first(&report->span_index, hash, &at); i != SP_INDEX_NONE;
       i = sp_index_next(&report->span_index, hash, &at)) {
    if (report->spans[i].id == id) {
      *out = &report->spans[i];
      return SPANPROF_OK;
    }
  }
  if (report->span_count >= report->spans_max)
    report_spans_shrink(report);
  st = sp_mem_reserve(report->mem, (void **)&report->spans,
                      &report->span_capacity, report->span_count + 1,
                      sizeof *report->spans);
  if (!st)
    st = sp_index_reserve(&report->span_index, report->mem);
  if (st)
    return sp_fail(
        st, "too many spans: limit them with a filter such as --span-name");
  *out = &report->spans[report->span_count];
  **out = (sp_report_span){.id = id};
  sp_index_add(&report->span_index, hash, (uint32_t)report->span_count++);
  return SPANPROF_OK;
}

static spanprof_status report_reserve_sample_name(sp_report *report) {
  const spanprof_status st = sp_mem_reserve(
      report->mem, (void **)&report->sample_names,
      &report->sample_name_capacity, report->sample_name_count + 1,
      sizeof *report->sample_names);

  return st ? sp_fail(st, "out of memory") : SPANPROF_OK;
}

/* Add an amount to the span name `text` ("": unknown) and, if `id` is not NULL,
 * to the span with this id. `own` means that the sample belongs to the span
 * itself, not to a descendant. */
static spanprof_status report_spans_add_to(sp_report *report, const char *text,
                                           const uint64_t *id,
                                           const sp_amount *amount, bool own) {
  sp_report_span *span = NULL;
  sp_report_span_name *entry;
  uint32_t name;
  spanprof_status st =
      report_span_name(report, *text ? text : SP_REPORT_UNNAMED, &name);

  if (!st)
    st = report_reserve_sample_name(report);
  if (!st && id)
    st = report_span(report, *id, &span);
  if (st)
    return st;
  entry = &report->span_names[name];
  if (own)
    sp_amount_add(&entry->self, amount);
  /* If nested spans have the same name, the name counts a sample once. */
  if (entry->last_sample != report->samples) {
    sp_amount_add(&entry->total, amount);
    report->sample_names[report->sample_name_count++] = name;
  }
  entry->last_sample = report->samples;
  if (!span)
    return SPANPROF_OK;
  if (own)
    sp_amount_add(&span->self, amount);
  if (span->last_sample != report->samples)
    sp_amount_add(&span->total, amount);
  span->last_sample = report->samples;
  if (*text || span->name == 0)
    span->name = name;
  return SPANPROF_OK;
}

spanprof_status sp_report_spans_add(sp_report *report,
                                    const sp_pprof_sample *sample,
                                    const sp_amount *amount) {
  const char *text = sp_report_sample_span_name(sample);
  spanprof_status st;
  uint64_t id;
  bool has_id = sp_report_sample_span(sample, &id);
  uint32_t i;

  report->sample_name_count = 0;
  if (!text && !has_id)
    return report_spans_add_to(report, SP_REPORT_NO_SPAN, NULL, amount, true);
  report->any_span = true;
  st = report_spans_add_to(report, text ? text : "", has_id ? &id : NULL,
                           amount, true);
  for (i = 0; i < sample->label_count && !st; i++) {
    if (!sp_report_label_ancestor(&sample->labels[i], &id, &text))
      continue;
    report->any_ancestor = true;
    st = report_spans_add_to(report, text, &id, amount, false);
  }
  return st;
}
