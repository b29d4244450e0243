/* Reads a text line by line. */
#ifndef SP_TEXT_LINES_H
#define SP_TEXT_LINES_H

#include <string.h>

#include "util/base.h"

typedef struct sp_text_line {
  const char *at;
  size_t size; /* without the line end */
} sp_text_line;

static inline bool sp_text_is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}

/* Read the line that begins at *at, and move *at after it. Returns false at the
 * end of the text. */
static inline bool sp_text_next_line(const char **at, const char *end,
                                     sp_text_line *out) {
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

#endif
