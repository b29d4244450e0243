#include "wanted_ids.h"

#include <string.h>

#include "id_filter.h"
#include "util/text/hex.h"

bool sp_matcher_is_of_spans(const sp_matcher *matcher) {
  return strcmp(matcher->name, "span_id") == 0 ||
         strcmp(matcher->name, "profile_id") == 0;
}

bool sp_matcher_is_of_traces(const sp_matcher *matcher) {
  return strcmp(matcher->name, "trace_id") == 0;
}

/* Parse 16 hexadecimal digits. Returns 0 on failure. */
static uint64_t wanted_hex(const char *digits) {
  uint64_t number;

  return sp_hex_read(digits, 16, &number) ? number : 0;
}

static void wanted_add_span(sp_wanted_ids *wanted, uint32_t group,
                            uint64_t span_id) {
  wanted->ids[wanted->count++] = (sp_wanted_id){
      .key = sp_id_span_key(span_id), .span_id = span_id, .group = group};
}

static void wanted_add_trace(sp_wanted_ids *wanted, uint32_t group,
                             sp_trace_id trace) {
  wanted->ids[wanted->count++] =
      (sp_wanted_id){.key = sp_id_trace_key(trace.hi, trace.lo),
                     .trace = trace,
                     .group = group};
}

/* Add the id of a matcher `="id"`. Other matchers are skipped, also those with
 * an empty or short value, because such a value also matches samples without an
 * id. */
static void wanted_add_matcher(sp_wanted_ids *wanted, uint32_t group,
                               const sp_matcher *matcher) {
  const size_t digits = strlen(matcher->value);
  sp_trace_id trace;

  if (matcher->kind != SP_MATCH_EQUAL)
    return;
  if (sp_matcher_is_of_spans(matcher) && digits == 16)
    wanted_add_span(wanted, group, wanted_hex(matcher->value));
  if (!sp_matcher_is_of_traces(matcher) || digits != 32)
    return;
  trace.hi = wanted_hex(matcher->value);
  trace.lo = wanted_hex(matcher->value + 16);
  wanted_add_trace(wanted, group, trace);
}

spanprof_status sp_wanted_ids_read(sp_wanted_ids *wanted,
                                   const sp_selector *selector,
                                   const sp_mem *mem) {
  const size_t most =
      selector->span_count + selector->trace_count + selector->matcher_count;
  uint32_t group = 2;
  size_t i;

  memset(wanted, 0, sizeof *wanted);
  if (most == 0)
    return SPANPROF_OK;
  wanted->ids = sp_mem_new(mem, most * sizeof *wanted->ids);
  if (!wanted->ids)
    return SPANPROF_ERR_NOMEM;
  for (i = 0; i < selector->span_count; i++)
    wanted_add_span(wanted, 0, selector->span_ids[i]);
  for (i = 0; i < selector->trace_count; i++)
    wanted_add_trace(wanted, 1, selector->trace_ids[i]);
  wanted->list_count = wanted->count;
  for (i = 0; i < selector->matcher_count; i++)
    wanted_add_matcher(wanted, group++, &selector->matchers[i]);
  return SPANPROF_OK;
}

void sp_wanted_ids_dispose(sp_wanted_ids *wanted, const sp_mem *mem) {
  sp_mem_free(mem, wanted->ids);
  memset(wanted, 0, sizeof *wanted);
}

bool sp_wanted_ids_pass(const sp_wanted_ids *wanted, bool matchers,
                        sp_wanted_has has, void *data) {
  const size_t count = matchers ? wanted->count : wanted->list_count;
  size_t i, end;
  bool any;

  for (i = 0; i < count; i = end) {
    any = false;
    for (end = i; end < count && wanted->ids[end].group == wanted->ids[i].group;
         end++)
      any = any || has(data, &wanted->ids[end]);
    if (!any)
      return false;
  }
  return true;
}

typedef struct wanted_filter {
  const void *bytes;
  size_t size;
} wanted_filter;

static bool wanted_in_filter(void *data, const sp_wanted_id *id) {
  const wanted_filter *filter = data;

  return sp_id_filter_has(filter->bytes, filter->size, id->key);
}

bool sp_wanted_ids_pass_filter(const sp_wanted_ids *wanted, bool matchers,
                               const void *filter, size_t size) {
  wanted_filter of = {filter, size};

  return sp_wanted_ids_pass(wanted, matchers, wanted_in_filter, &of);
}

/* Returns whether the block's spans have the id. They are sorted by span id, so
 * a trace id is compared with every span. */
static bool wanted_in_spans(void *data, const sp_wanted_id *id) {
  const sp_block *block = *(const sp_block *const *)data;
  size_t low = 0, high = block->span_count, i;

  for (i = 0; !id->span_id && i < block->span_count; i++)
    if (block->spans[i].trace_lo == id->trace.lo &&
        block->spans[i].trace_hi == id->trace.hi)
      return true;
  while (id->span_id && low < high) {
    const size_t middle = (low + high) / 2;

    if (block->spans[middle].span_id < id->span_id)
      low = middle + 1;
    else
      high = middle;
  }
  return low < block->span_count && id->span_id &&
         block->spans[low].span_id == id->span_id;
}

bool sp_wanted_ids_pass_spans(const sp_wanted_ids *wanted, bool matchers,
                              const sp_block *block) {
  return wanted->count > SP_WANTED_FEW ||
         sp_wanted_ids_pass(wanted, matchers, wanted_in_spans, &block);
}
