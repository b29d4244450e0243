#include "foreign_folded.h"

#include <string.h>

#include "util/system/status.h"
#include "util/text/text_lines.h"

#define FOLDED_LINES_MAX 20 /* lines read to recognise the format */

typedef struct folded_number {
  const char *at;
  const char *end;
} folded_number;

typedef struct folded_split_line {
  sp_text_line stack;
  folded_number numbers[2]; /* in the order of the line */
  size_t number_count;
} folded_split_line;

/* Remove a number and the blanks before it from the end of a line. Returns
 * false if the line does not end in a number after a stack. */
static bool folded_cut_number(sp_text_line *line, folded_number *out) {
  const char *at = line->at + line->size, *digits;
  bool point = false;

  out->end = at;
  while (at > line->at &&
         ((at[-1] >= '0' && at[-1] <= '9') || (at[-1] == '.' && !point))) {
    point |= at[-1] == '.';
    at--;
  }
  digits = at;
  if (digits == out->end || *digits == '.' || out->end[-1] == '.' ||
      digits == line->at || !sp_text_is_blank(digits[-1]))
    return false;
  while (at > line->at && sp_text_is_blank(at[-1]))
    at--;
  out->at = digits;
  line->size = (size_t)(at - line->at);
  return line->size > 0;
}

/* Split a line into the stack and at most `numbers_max` numbers. If it has no
 * number, the line is not a folded stack. */
static void folded_split(sp_text_line line, size_t numbers_max,
                         folded_split_line *out) {
  folded_number number;

  *out = (folded_split_line){.stack = line};
  while (out->number_count < numbers_max &&
         folded_cut_number(&out->stack, &number)) {
    out->numbers[1] = out->numbers[0];
    out->numbers[0] = number;
    out->number_count++;
  }
}

/* Get the next line that is neither empty nor a comment, and count lines in
 * *number. Returns false at the end. */
static bool folded_next(const char **at, const char *end, sp_text_line *line,
                        size_t *number) {
  while (sp_text_next_line(at, end, line)) {
    ++*number;
    while (line->size && sp_text_is_blank(line->at[line->size - 1]))
      line->size--;
    if (line->size && line->at[0] != '#')
      return true;
  }
  return false;
}

/* Returns whether a file name ends in ".folded", ".folded.txt" or similar. */
static bool folded_is_name(const char *name) {
  static const char *const endings[] = {".folded", ".collapsed", ".stack",
                                        ".stacks"};
  size_t i;

  for (i = 0; i < SP_COUNT_OF(endings); i++) {
    const char *found = strcasestr(name, endings[i]);
    const size_t size = strlen(endings[i]);

    if (found && (found[size] == '\0' || found[size] == '.'))
      return true;
  }
  return false;
}

bool sp_foreign_folded_is(const char *name, sp_view view) {
  size_t seen = 0, stacks = 0, callers = 0, number = 0;
  const char *text = view.bytes, *end = text + view.size;
  sp_text_line line;
  folded_split_line split;

  while (seen < FOLDED_LINES_MAX && folded_next(&text, end, &line, &number)) {
    folded_split(line, 1, &split);
    seen++;
    stacks += split.number_count;
    callers += split.number_count &&
               memchr(split.stack.at, ';', split.stack.size) != NULL;
  }
  return stacks * 2 > seen && (callers || folded_is_name(name));
}

/* Set *number_count to the count of numbers that all lines have. */
static spanprof_status folded_examine(sp_view text, size_t *number_count) {
  const char *at = text.bytes, *end = at + text.size;
  size_t number = 0;
  sp_text_line line;
  folded_split_line split;

  *number_count = 2;
  while (folded_next(&at, end, &line, &number)) {
    folded_split(line, 2, &split);
    *number_count = sp_min_u64(*number_count, split.number_count);
    if (split.number_count == 0)
      return sp_fail(SPANPROF_ERR_FORMAT,
                     "has a line that is not \"frame;frame;frame NUMBER\": "
                     "remove line %zu",
                     number);
  }
  return SPANPROF_OK;
}

static double folded_value(const folded_number *number) {
  const char *at = number->at;
  double value = 0, place = 1;
  bool after_point = false;

  for (; at < number->end; at++) {
    if (*at == '.') {
      after_point = true;
      continue;
    }
    value = value * 10 + (*at - '0');
    place *= after_point ? 10 : 1;
  }
  return value / place;
}

/* Set *node to the stack of a line. */
static spanprof_status folded_stack(sp_foreign *foreign, sp_text_line stack,
                                    uint32_t *node) {
  const char *at = stack.at, *end = at + stack.size, *name_end;
  uint32_t function;
  spanprof_status st;
  sp_view name;

  *node = 0;
  do {
    name_end = memchr(at, ';', (size_t)(end - at));
    if (!name_end)
      name_end = end;
    name = name_end > at ? sp_view_of(at, (size_t)(name_end - at))
                         : sp_view_text("[unknown]");
    st = sp_foreign_function(foreign, name, sp_view_of("", 0), 0, &function);
    if (!st)
      st = sp_foreign_call(foreign, node, function);
    at = name_end + 1;
  } while (!st && name_end < end);
  return st;
}

static spanprof_status folded_add(sp_foreign *foreign,
                                  const folded_split_line *line,
                                  const uint32_t types[2]) {
  uint32_t node;
  spanprof_status st = folded_stack(foreign, line->stack, &node);
  size_t i;

  for (i = 0; !st && i < line->number_count; i++)
    st = sp_foreign_add(foreign, node, types[line->number_count - 1 - i], 0,
                        folded_value(&line->numbers[i]), 1);
  return st;
}

spanprof_status sp_foreign_folded_read(sp_foreign *foreign, sp_view text) {
  const char *at = text.bytes, *end = at + text.size;
  uint32_t types[2] = {0, 0};
  size_t number_count, number = 0;
  sp_text_line line;
  folded_split_line split;
  spanprof_status st = folded_examine(text, &number_count);

  if (!st)
    st = sp_foreign_type(foreign, sp_view_text("samples"), "count", &types[0]);
  if (!st && number_count == 2)
    st = sp_foreign_type(foreign, sp_view_text(SP_FOREIGN_BEFORE), "count",
                         &types[1]);
  while (!st && folded_next(&at, end, &line, &number)) {
    folded_split(line, number_count, &split);
    st = folded_add(foreign, &split, types);
  }
  return st;
}
