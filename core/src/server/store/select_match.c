#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "select.h"

bool sp_select_labels_pass(const sp_selector *selector,
                           const sp_text_pairs *labels, bool *asks_spans) {
  size_t i;

  *asks_spans = false;
  for (i = 0; i < selector->matcher_count; i++) {
    const sp_matcher *matcher = &selector->matchers[i];
    const char *value = sp_text_pairs_find(labels, matcher->name);

    if (!value &&
        (sp_matcher_is_of_spans(matcher) || sp_matcher_is_of_traces(matcher)))
      *asks_spans = true;
    else if (!sp_matcher_takes(matcher, value ? value : ""))
      return false;
  }
  return true;
}

static bool match_span_list(const sp_selector *selector, uint64_t id) {
  size_t i;

  for (i = 0; i < selector->span_count; i++)
    if (selector->span_ids[i] == id && id)
      return true;
  return selector->span_count == 0;
}

static bool match_trace_list(const sp_selector *selector, uint64_t hi,
                             uint64_t lo) {
  size_t i;

  for (i = 0; i < selector->trace_count; i++)
    if (selector->trace_ids[i].hi == hi && selector->trace_ids[i].lo == lo &&
        (hi || lo))
      return true;
  return selector->trace_count == 0;
}

bool sp_select_span_passes(const sp_select *select,
                           const sp_select_entry *entry,
                           const sp_block_span *span) {
  const sp_selector *selector = select->selector;
  char digits[40];
  size_t i;

  if (!match_span_list(selector, span->span_id) ||
      !match_trace_list(selector, span->trace_hi, span->trace_lo))
    return false;
  for (i = 0; entry->asks_spans && i < selector->matcher_count; i++) {
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
    if (!sp_matcher_takes(matcher, digits))
      return false;
  }
  return true;
}
