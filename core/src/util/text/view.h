/* A borrowed byte range, mostly a part of a request's body. Not NUL-terminated;
 * may contain NUL. */
#ifndef SP_VIEW_H
#define SP_VIEW_H

#include <string.h>

#include "util/base.h"

typedef struct sp_view {
  const char *bytes;
  size_t size;
} sp_view;

static inline sp_view sp_view_of(const void *bytes, size_t size) {
  return (sp_view){bytes, size};
}

static inline sp_view sp_view_text(const char *text) {
  return (sp_view){text, text ? strlen(text) : 0};
}

static inline bool sp_view_equal(sp_view a, sp_view b) {
  return a.size == b.size && (!a.size || memcmp(a.bytes, b.bytes, a.size) == 0);
}

static inline bool sp_view_is(sp_view view, const char *text) {
  return sp_view_equal(view, sp_view_text(text));
}

/* Compares bytes, and returns a negative number, 0 or a positive number like
 * strcmp(). */
static inline int sp_view_compare(sp_view a, sp_view b) {
  const size_t shared = a.size < b.size ? a.size : b.size;
  const int order = shared ? memcmp(a.bytes, b.bytes, shared) : 0;

  return order ? order : (a.size > b.size) - (a.size < b.size);
}

static inline bool sp_view_starts(sp_view view, const char *with) {
  const size_t size = strlen(with);

  return view.size >= size && memcmp(view.bytes, with, size) == 0;
}

static inline bool sp_view_contains(sp_view view, const char *part) {
  return view.size && memmem(view.bytes, view.size, part, strlen(part));
}

/* The view without surrounding white space. */
static inline sp_view sp_view_trim(sp_view view) {
  while (view.size && strchr(" \t\r\n\v\f", view.bytes[0]) && view.bytes[0])
    view.bytes++, view.size--;
  while (view.size && view.bytes[view.size - 1] &&
         strchr(" \t\r\n\v\f", view.bytes[view.size - 1]))
    view.size--;
  return view;
}

#endif
