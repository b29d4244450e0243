/* Line tables of code objects, made into runs of instructions on one line. */
#ifndef PY_LINES_H
#define PY_LINES_H

#include <stddef.h>
#include <stdint.h>

/* From instruction unit `unit` to the next run. */
typedef struct py_sp_line_run {
  uint32_t unit;
  uint32_t line; /* 0: not known */
} py_sp_line_run;

/* Bytes of a table that are read at most; beyond them lines are not known.
 * Some 5,000 lines of source, 0.2 ms. */
#define PY_SP_LINES_BYTES_MAX 65536

/* Write the runs of a co_linetable to `runs`, or only count them where it is
 * NULL; returns how many. Instructions without a line belong to the one before
 * them, at the begin to `first_line`. Signal-safe. */
size_t py_sp_lines_read(const uint8_t *table, size_t bytes, int32_t first_line,
                        py_sp_line_run *runs);

/* The line of a unit; 0: not known. Signal-safe. */
uint32_t py_sp_lines_find(const py_sp_line_run *runs, size_t count,
                          uint32_t unit);

#endif
