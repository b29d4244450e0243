#include <stdlib.h>

#include "stack_text.h"
#include "util/text/number.h"
#include "util/text/text_lines.h"

#define FOLDED_COUNT_MAX 32 /* digits of a count, including leading zeros */

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
  const char *at = text.bytes, *const end = at + text.size, *space;
  spanprof_status st = SPANPROF_OK;
  int64_t value = 0;
  sp_text_line line;

  while (!st && sp_text_next_line(&at, end, &line)) {
    space = line.size ? memrchr(line.at, ' ', line.size) : NULL;
    if (!space)
      continue;
    st = folded_count(
        list, sp_view_of(space + 1, (size_t)(line.at + line.size - space - 1)),
        &value);
    if (!st)
      st = sp_stack_list_add_key(list,
                                 sp_view_of(line.at, (size_t)(space - line.at)),
                                 (uint64_t)value);
  }
  return st;
}

spanprof_status sp_stack_lines(sp_stack_list *list, sp_view text) {
  const char *at = text.bytes, *const end = at + text.size;
  spanprof_status st = SPANPROF_OK;
  sp_text_line line;

  while (!st && sp_text_next_line(&at, end, &line))
    if (line.size)
      st = sp_stack_list_add_key(list, sp_view_of(line.at, line.size), 1);
  return st;
}
