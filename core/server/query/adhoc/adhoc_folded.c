#include "adhoc_folded.h"

#include <string.h>

#include "server/model/sum.h"
#include "server/model/text_lines.h"
#include "server/query/selector/matcher_list.h"

#define FOLDED_DEPTH_MAX  4096
#define FOLDED_LINES_MAX  20 /* lines read to recognise the format */
#define FOLDED_PLACES_MAX 9  /* decimal places; further digits are dropped */

typedef struct folded_number {
  const char *at;
  const char *end;
} folded_number;

typedef struct folded_line {
  sp_text_line stack;
  folded_number numbers[2]; /* in the order of the line */
  size_t number_count;
} folded_line;

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
                         folded_line *out) {
  folded_number number;

  *out = (folded_line){.stack = line};
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

bool sp_adhoc_folded_is(const char *name, const char *text, size_t size) {
  size_t seen = 0, stacks = 0, callers = 0, number = 0;
  const char *end = text + size;
  sp_text_line line;
  folded_line split;

  while (seen < FOLDED_LINES_MAX && folded_next(&text, end, &line, &number)) {
    folded_split(line, 1, &split);
    seen++;
    stacks += split.number_count;
    callers += split.number_count &&
               memchr(split.stack.at, ';', split.stack.size) != NULL;
  }
  return stacks * 2 > seen && (callers || folded_is_name(name));
}

typedef struct folded_reading {
  sp_function_tree *tree;
  uint32_t side;
  size_t number_count; /* numbers in each line */
  size_t number;       /* index of the number that is added */
  size_t places;       /* most decimal places of any number */
  sp_query_fault *fault;
} folded_reading;

/* Set reading->number_count and reading->places from all lines. */
static spanprof_status folded_examine(folded_reading *reading, const char *text,
                                      const char *end) {
  const char *at;
  size_t number = 0, i, pass;
  sp_text_line line;
  folded_line split;

  reading->number_count = 2;
  for (at = text; folded_next(&at, end, &line, &number);) {
    folded_split(line, 2, &split);
    if (split.number_count < reading->number_count)
      reading->number_count = split.number_count;
    if (split.number_count == 0)
      return sp_query_refuse(
          reading->fault, SP_CODE_INVALID,
          "failed to parse profile: line %zu is not \"frame;frame;frame "
          "NUMBER\": remove it and upload the file again",
          number);
  }
  for (at = text, pass = 0; folded_next(&at, end, &line, &pass);) {
    folded_split(line, reading->number_count, &split);
    for (i = 0; i < split.number_count; i++) {
      const folded_number *each = &split.numbers[i];
      const char *point = memchr(each->at, '.', (size_t)(each->end - each->at));
      const size_t places = point ? (size_t)(each->end - point - 1) : 0;

      if (places > reading->places)
        reading->places =
            places < FOLDED_PLACES_MAX ? places : FOLDED_PLACES_MAX;
    }
  }
  return SPANPROF_OK;
}

/* Returns the number times 10^places, or INT64_MAX if it is larger. */
static int64_t folded_units(const folded_number *number, size_t places) {
  const char *at = number->at;
  int64_t value = 0;
  size_t left = places;
  bool after_point = false;

  for (; at < number->end; at++) {
    if (*at == '.') {
      after_point = true;
      continue;
    }
    if (after_point && left == 0)
      break;
    left -= after_point;
    if (__builtin_mul_overflow(value, 10, &value) ||
        __builtin_add_overflow(value, *at - '0', &value))
      return INT64_MAX;
  }
  for (; left > 0; left--)
    if (__builtin_mul_overflow(value, 10, &value))
      return INT64_MAX;
  return value;
}

static spanprof_status folded_add(folded_reading *reading,
                                  const folded_line *line) {
  const char *at = line->stack.at, *end = at + line->stack.size, *name_end;
  uint32_t node = 0, depth = 0;
  spanprof_status st;

  do {
    name_end = memchr(at, ';', (size_t)(end - at));
    if (!name_end)
      name_end = end;
    if (++depth > FOLDED_DEPTH_MAX)
      return sp_query_refuse(reading->fault, SP_CODE_INVALID,
                             "failed to parse profile: a stack is too deep");
    st = sp_function_tree_child(reading->tree, &node, at,
                                (size_t)(name_end - at));
    if (st)
      return st;
    at = name_end + 1;
  } while (name_end < end);
  sp_increase(sp_function_tree_self(reading->tree, node, reading->side),
              folded_units(&line->numbers[reading->number], reading->places));
  return SPANPROF_OK;
}

/* Divide each sum by 10^places, and round it. */
static void folded_round(folded_reading *reading) {
  int64_t unit = 1;
  size_t i;

  for (i = 0; i < reading->places; i++)
    unit *= 10;
  for (i = 0; unit > 1 && i < reading->tree->calls.node_count; i++) {
    int64_t *self = sp_function_tree_self(reading->tree, i, reading->side);

    *self = *self / unit + (*self % unit >= unit / 2);
  }
}

static spanprof_status folded_types(sp_adhoc_profile *out, sp_arena *arena,
                                    const char *name, const char *type,
                                    folded_reading *reading) {
  out->type_count = reading->number_count;
  out->types = sp_arena_new(arena, 2, sizeof *out->types);
  if (!out->types)
    return arena->st;
  out->types[0] = name;
  out->types[1] = SP_ADHOC_BEFORE;
  out->type = out->type_count == 2 && type && !strcmp(type, SP_ADHOC_BEFORE);
  /* Of two numbers in a line, the first belongs to the type SP_ADHOC_BEFORE. */
  reading->number = out->type_count == 2 && out->type == 0;
  out->bearer.name = name;
  return SPANPROF_OK;
}

spanprof_status sp_adhoc_folded_read(sp_adhoc_profile *out, sp_arena *arena,
                                     const char *name, const char *text,
                                     size_t size, const char *type,
                                     sp_function_tree *tree, uint32_t side,
                                     sp_query_fault *fault) {
  folded_reading reading = {.tree = tree, .side = side, .fault = fault};
  const char *end = text + size;
  sp_text_line line;
  folded_line split;
  size_t number = 0;
  spanprof_status st = folded_examine(&reading, text, end);

  if (!st)
    st = folded_types(out, arena, name, type, &reading);
  while (!st && folded_next(&text, end, &line, &number)) {
    folded_split(line, reading.number_count, &split);
    st = folded_add(&reading, &split);
  }
  if (!st)
    folded_round(&reading);
  return st;
}
