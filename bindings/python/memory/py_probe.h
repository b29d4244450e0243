/* Tests in the signal handler whether memory is readable, before the handler
 * follows a pointer that may be stale. */
#ifndef PY_PROBE_H
#define PY_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PY_SP_PROBE_PAGES 8

/* Memory that is known to be readable during one stack walk: a range of the C
 * stack, which the caller sets, and the pages that were tested last. Initialize
 * the struct with {0}. */
typedef struct py_sp_probe {
  uintptr_t stack_start;
  uintptr_t stack_end;
  uintptr_t pages[PY_SP_PROBE_PAGES];
  unsigned next;
} py_sp_probe;

/* Returns whether the first and the last byte of the `bytes` (at least 1) at
 * `at` are readable. The range must be one object of a few pages, which is
 * mapped entirely or not at all. Signal-safe. */
bool py_sp_probe_readable(py_sp_probe *probe, const void *at, size_t bytes);

#endif
