#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../util/hex.h"
#include "select.h"

static bool match_is_span(const sp_matcher *matcher) {
  return strcmp(matcher->name, "span_id") == 0 ||
         strcmp(matcher->name, "profile_id") == 0;
}

static bool match_is_trace(const sp_matcher *matcher) {
  return strcmp(matcher->name, "trace_id") == 0;
}

bool sp_select_labels_pass(const sp_selector *selector,
                           const sp_text_pairs *labels, bool *asks_spans) {
  size_t i;

  *asks_spans = false;
  for (i = 0; i < selector->matcher_count; i++) {
    const sp_matcher *matcher = &selector->matchers[i];
    const char *value = sp_text_pairs_find(labels, matcher->name);

    if (!value && (match_is_span(matcher) || match_is_trace(matcher)))
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
    const bool trace = match_is_trace(matcher);

    if ((!trace && !match_is_span(matcher)) ||
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

/* 16 hexadecimal digits; 0: they are none. */
static uint64_t match_hex(const char *digits) {
  uint64_t number;

  return sp_hex_read(digits, 16, &number) ? number : 0;
}

/* Of a matcher `="id"`, if the filter can tell. A series with a label of that
 * name is matched by it instead: then blocks of it have to be read. */
static bool match_filter(const sp_matcher *matcher, const void *filter,
                         size_t size) {
  const size_t digits = strlen(matcher->value);

  if (matcher->kind != SP_MATCH_EQUAL)
    return true;
  if (match_is_span(matcher) && digits == 16)
    return sp_block_filter_has(filter, size,
                               sp_block_span_key(match_hex(matcher->value)));
  if (match_is_trace(matcher) && digits == 32)
    return sp_block_filter_has(
        filter, size,
        sp_block_trace_key(match_hex(matcher->value),
                           match_hex(matcher->value + 16)));
  return true;
}

bool sp_select_filter_passes(const sp_selector *selector, const void *filter,
                             size_t size) {
  bool passes = selector->span_count == 0;
  size_t i;

  for (i = 0; !passes && i < selector->span_count; i++)
    passes = sp_block_filter_has(filter, size,
                                 sp_block_span_key(selector->span_ids[i]));
  if (!passes)
    return false;
  passes = selector->trace_count == 0;
  for (i = 0; !passes && i < selector->trace_count; i++)
    passes = sp_block_filter_has(filter, size,
                                 sp_block_trace_key(selector->trace_ids[i].hi,
                                                    selector->trace_ids[i].lo));
  for (i = 0; passes && i < selector->matcher_count; i++)
    passes = match_filter(&selector->matchers[i], filter, size);
  return passes;
}
