#include <stdlib.h>

#include "stack_text.h"
#include "util/text/number.h"

#define FOLDED_COUNT_MAX 32 /* digits of a count, with zeros before it */

/* The next line without its end; false: there is none. */
static bool folded_line(sp_view *rest, sp_view *out) {
  const char *end;

  if (!rest->size)
    return false;
  end = memchr(rest->bytes, '\n', rest->size);
  *out =
      sp_view_of(rest->bytes, end ? (size_t)(end - rest->bytes) : rest->size);
  rest->bytes += out->size + (end != NULL);
  rest->size -= out->size + (end != NULL);
  return true;
}

static sp_view folded_without_cr(sp_view line) {
  if (line.size && line.bytes[line.size - 1] == '\r')
    line.size--;
  return line;
}

static spanprof_status folded_count(sp_stack_list *list, sp_view text,
                                    int64_t *out) {
  const spanprof_status st =
      sp_number_signed(text.bytes, text.bytes + text.size, out);

  if (st == SPANPROF_ERR_FORMAT || text.size > FOLDED_COUNT_MAX)
    return sp_refuse(list->refusal, SP_REFUSAL_BROKEN,
                     "strconv.Atoi: parsing \"%.*s\": invalid syntax",
                     (int)sp_min_u64(text.size, 100), text.bytes);
  return st ? sp_refuse(list->refusal, SP_REFUSAL_BROKEN,
                        "strconv.Atoi: parsing \"%.*s\": value out of range",
                        (int)text.size, text.bytes)
            : SPANPROF_OK;
}

spanprof_status sp_stack_folded(sp_stack_list *list, sp_view text) {
  spanprof_status st = SPANPROF_OK;
  const char *space;
  int64_t value = 0;
  sp_view line;
  size_t at;

  while (!st && folded_line(&text, &line)) {
    line = folded_without_cr(line);
    space = line.size ? memrchr(line.bytes, ' ', line.size) : NULL;
    if (!space)
      continue;
    at = (size_t)(space - line.bytes);
    st = folded_count(list, sp_view_of(space + 1, line.size - at - 1), &value);
    if (!st)
      st = sp_stack_list_add_key(list, sp_view_of(line.bytes, at),
                                 (uint64_t)value);
  }
  return st;
}

spanprof_status sp_stack_lines(sp_stack_list *list, sp_view text) {
  spanprof_status st = SPANPROF_OK;
  sp_view line;

  while (!st && folded_line(&text, &line)) {
    line = folded_without_cr(line);
    if (line.size)
      st = sp_stack_list_add_key(list, line, 1);
  }
  return st;
}
