/* Is memory there? Asked in the signal handler before a pointer is followed
 * that may be stale. */
#ifndef PY_PROBE_H
#define PY_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PY_SP_PROBE_PAGES 8

/* What is known to be readable during one walk: a piece of the stack, from the
 * start, and pages that were found so. {0}: nothing yet. */
typedef struct py_sp_probe {
  uintptr_t stack_start;
  uintptr_t stack_end;
  uintptr_t pages[PY_SP_PROBE_PAGES];
  unsigned next;
} py_sp_probe;

/* Whether the first and the last of `bytes`, at least 1, can be read: what is
 * asked about is one object of few pages, mapped whole or not at all.
 * Signal-safe. */
bool py_sp_probe_readable(py_sp_probe *probe, const void *at, size_t bytes);

#endif
