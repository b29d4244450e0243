#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "select.h"

bool sp_select_labels_pass(const sp_selector *selector,
                           const sp_text_pairs *labels, bool *by_span_ids) {
  size_t i;

  *by_span_ids = false;
  for (i = 0; i < selector->matcher_count; i++) {
    const sp_matcher *matcher = &selector->matchers[i];
    const char *value = sp_text_pairs_find(labels, matcher->name);

    if (!value &&
        (sp_matcher_is_of_spans(matcher) || sp_matcher_is_of_traces(matcher)))
      *by_span_ids = true;
    else if (!sp_matcher_accepts(matcher, value ? value : ""))
      return false;
  }
  return true;
}

static int match_order_spans(const void *a, const void *b) {
  const uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

  return left < right ? -1 : left > right;
}

static int match_order_traces(const void *a, const void *b) {
  const sp_trace_id *left = a, *right = b;

  if (left->hi != right->hi)
    return left->hi < right->hi ? -1 : 1;
  return left->lo < right->lo ? -1 : left->lo > right->lo;
}

static int match_order_profiles(const void *a, const void *b) {
  return memcmp(a, b, sizeof(sp_profile_uuid));
}

/* Make a sorted copy. Returns NULL if the list is empty or there is no memory.
 */
static void *match_sorted(const sp_mem *mem, const void *list, size_t count,
                          size_t item,
                          int (*order)(const void *, const void *)) {
  void *copy = count ? sp_mem_new(mem, count * item) : NULL;

  if (copy) {
    memcpy(copy, list, count * item);
    qsort(copy, count, item, order);
  }
  return copy;
}

spanprof_status sp_select_sort_ids(sp_select *select) {
  const sp_selector *selector = select->selector;
  const sp_mem *mem = select->mem;

  select->span_ids = match_sorted(mem, selector->span_ids, selector->span_count,
                                  sizeof *select->span_ids, match_order_spans);
  select->trace_ids =
      match_sorted(mem, selector->trace_ids, selector->trace_count,
                   sizeof *select->trace_ids, match_order_traces);
  select->profiles =
      match_sorted(mem, selector->profiles, selector->profile_count,
                   sizeof *select->profiles, match_order_profiles);
  return (selector->span_count && !select->span_ids) ||
                 (selector->trace_count && !select->trace_ids) ||
                 (selector->profile_count && !select->profiles)
             ? SPANPROF_ERR_NOMEM
             : SPANPROF_OK;
}

bool sp_select_profile_passes(const sp_select *select,
                              const sp_block_profile *profile) {
  const size_t count = select->selector->profile_count;
  sp_profile_uuid uuid;

  if (count == 0)
    return true;
  uuid = sp_select_uuid(select, profile);
  return bsearch(&uuid, select->profiles, count, sizeof uuid,
                 match_order_profiles) != NULL;
}

static bool match_span_list(const sp_select *select, uint64_t id) {
  const size_t count = select->selector->span_count;

  return count == 0 || (id && bsearch(&id, select->span_ids, count, sizeof id,
                                      match_order_spans));
}

static bool match_trace_list(const sp_select *select, sp_trace_id id) {
  const size_t count = select->selector->trace_count;

  return count == 0 ||
         ((id.hi || id.lo) && bsearch(&id, select->trace_ids, count, sizeof id,
                                      match_order_traces));
}

bool sp_select_span_passes(const sp_select *select,
                           const sp_select_entry *entry,
                           const sp_block_span *span) {
  const sp_selector *selector = select->selector;
  const sp_trace_id trace_id = {span->trace_hi, span->trace_lo};
  char digits[40];
  size_t i;

  if (!match_span_list(select, span->span_id) ||
      !match_trace_list(select, trace_id))
    return false;
  for (i = 0; entry->by_span_ids && i < selector->matcher_count; i++) {
    const sp_matcher *matcher = &selector->matchers[i];
    const bool trace = sp_matcher_is_of_traces(matcher);

    if ((!trace && !sp_matcher_is_of_spans(matcher)) ||
        sp_text_pairs_find(&entry->labels, matcher->name))
      continue;
    digits[0] = '\0';
    if (trace && (span->trace_hi || span->trace_lo))
      snprintf(digits, sizeof digits, "%016" PRIx64 "%016" PRIx64,
               span->trace_hi, span->trace_lo);
    else if (!trace && span->span_id)
      snprintf(digits, sizeof digits, "%016" PRIx64, span->span_id);
    if (!sp_matcher_accepts(matcher, digits))
      return false;
  }
  return true;
}

uint64_t sp_select_profiles(const sp_select *select) {
  const sp_block *block = &select->block;
  uint32_t last = UINT32_MAX;
  uint64_t count = 0;
  size_t i;

  for (i = 0; i < block->presence_count; i++) {
    const sp_block_presence *run = &block->presences[i];
    const sp_select_entry *entry = select->first[run->series];

    for (; run->profile != last && entry &&
           entry < select->entries + select->entry_count &&
           entry->series == block->series[run->series].id;
         entry++)
      if (run->types >> entry->type & 1) {
        last = run->profile;
        count++;
      }
  }
  return count;
}
