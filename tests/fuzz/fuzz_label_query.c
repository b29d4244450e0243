/* Parses selectors and classic queries. Any text is either refused with a
 * message, or gives a list of matchers, which match a text in bounded time. The
 * first line of the input is the selector, the remainder is the text to
 * match. */
#include <stdlib.h>
#include <string.h>

#include "server/query/selector/label_query.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void match_all(const sp_matcher_list *list, const char *text,
                      size_t bytes) {
  size_t i;

  for (i = 0; i < list->count; i++) {
    const sp_matcher *matcher = &list->matchers[i];

    if (!matcher->name || !matcher->value)
      abort();
    if (matcher->matches)
      (void)matcher->matches(matcher, text, bytes);
    else if (matcher->kind == SP_MATCH_REGEX ||
             matcher->kind == SP_MATCH_NO_REGEX)
      abort();
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const uint8_t *end = size ? memchr(data, '\n', size) : NULL;
  const size_t bytes = end ? (size_t)(end - data) : size;
  char *text = sp_mem_text(&sp_mem_default, (const char *)data, bytes);
  sp_query_fault fault = {0};
  sp_matcher_list list;
  sp_arena arena;
  const char *type;
  spanprof_status st;

  if (!text)
    return 0;
  sp_arena_init(&arena, &sp_mem_default, 1 << 20);
  sp_matcher_list_init(&list, &sp_mem_default, &arena);
  st = sp_label_query_parse(&list, text, &type, &fault);
  if (st == SPANPROF_ERR_ARGUMENT && (!fault.code || !fault.message[0]))
    abort();
  if (fault.column > strlen(text) + 1)
    abort();
  if (!st)
    match_all(&list, (const char *)data + bytes, size - bytes);
  sp_matcher_list_dispose(&list);
  sp_arena_dispose(&arena);
  sp_mem_free(&sp_mem_default, text);
  return 0;
}
