#include "perf_script.h"

#include <string.h>

#include "matcher_list.h"

#define PERF_DEPTH_MAX 1024 /* deeper stacks lose their outermost frames */

typedef struct perf_line {
  const char *at;
  size_t size;
} perf_line;

typedef struct perf_reading {
  sp_arena *arena;
  sp_name_tree *tree;
  uint32_t side;
  perf_line command; /* of the sample at hand; size 0: none */
  perf_line frames[PERF_DEPTH_MAX];
  size_t depth;
} perf_reading;

/* The next line without its newline; false at the end. */
static bool perf_next(const char **at, const char *end, perf_line *out) {
  const char *newline;

  if (*at == end)
    return false;
  newline = memchr(*at, '\n', (size_t)(end - *at));
  out->at = *at;
  out->size = (size_t)((newline ? newline : end) - *at);
  *at = newline ? newline + 1 : end;
  if (out->size && out->at[out->size - 1] == '\r')
    out->size--;
  return true;
}

static bool perf_is_blank(char c) {
  return c == ' ' || c == '\t';
}

/* "java 12688 [002] 6544038.708352: cpu-clock:", at its first column. */
static bool perf_is_sample(const perf_line *line) {
  return line->size > 2 && !perf_is_blank(line->at[0]) && line->at[0] != '#' &&
         memchr(line->at, ':', line->size) &&
         memchr(line->at, ' ', line->size) && line->at[line->size - 1] == ':';
}

bool sp_perf_script_is(const char *text, size_t size) {
  const char *end = text + size;
  perf_line line;

  while (perf_next(&text, end, &line))
    if (line.size && line.at[0] != '#')
      return perf_is_sample(&line);
  return false;
}

static uint32_t perf_child(perf_reading *reading, uint32_t parent,
                           const perf_line *name) {
  const char *copy = sp_arena_text(reading->arena, name->at, name->size);
  const uint32_t number =
      copy ? sp_name_tree_name(reading->tree, copy) : SP_INDEX_NONE;

  return number == SP_INDEX_NONE
             ? number
             : sp_name_tree_child(reading->tree, parent, number);
}

/* The sample is whole. */
static spanprof_status perf_put(perf_reading *reading) {
  uint32_t node = 0;
  int64_t *self;

  if (reading->command.size == 0)
    return SPANPROF_OK;
  node = perf_child(reading, node, &reading->command);
  while (reading->depth > 0 && node != SP_INDEX_NONE)
    node = perf_child(reading, node, &reading->frames[--reading->depth]);
  reading->command.size = reading->depth = 0;
  if (node == SP_INDEX_NONE)
    return reading->arena->st ? reading->arena->st : SPANPROF_ERR_NOMEM;
  self = &reading->tree->nodes[node].self[reading->side];
  *self = sp_sum(*self, 1);
  return SPANPROF_OK;
}

/* "\t    7f1a main+0x12 (/bin/x)": the name stands between the address and the
 * file, and may have blanks in it. */
static void perf_take_frame(perf_reading *reading, perf_line line) {
  const char *end, *offset;

  while (line.size && perf_is_blank(*line.at))
    line.at++, line.size--;
  while (line.size && !perf_is_blank(*line.at))
    line.at++, line.size--;
  while (line.size && perf_is_blank(*line.at))
    line.at++, line.size--;
  end = memrchr(line.at, '(', line.size);
  if (end && end > line.at && perf_is_blank(end[-1]))
    line.size = (size_t)(end - 1 - line.at);
  offset = memrchr(line.at, '+', line.size);
  if (offset && (size_t)(line.at + line.size - offset) > 3 &&
      memcmp(offset, "+0x", 3) == 0)
    line.size = (size_t)(offset - line.at);
  if (line.size && reading->depth < PERF_DEPTH_MAX)
    reading->frames[reading->depth++] = line;
}

spanprof_status sp_perf_script_read(sp_arena *arena, sp_name_tree *tree,
                                    uint32_t side, const char *text,
                                    size_t size) {
  perf_reading *reading = sp_arena_new(arena, 1, sizeof *reading);
  const char *end = text + size;
  perf_line line;
  spanprof_status st = SPANPROF_OK;

  if (!reading)
    return arena->st;
  reading->arena = arena;
  reading->tree = tree;
  reading->side = side;
  while (!st && perf_next(&text, end, &line)) {
    if (line.size && perf_is_blank(line.at[0])) {
      perf_take_frame(reading, line);
      continue;
    }
    st = perf_put(reading);
    reading->depth = 0;
    if (perf_is_sample(&line)) {
      reading->command = line;
      reading->command.size =
          (size_t)((const char *)memchr(line.at, ' ', line.size) - line.at);
    }
  }
  return st ? st : perf_put(reading);
}
