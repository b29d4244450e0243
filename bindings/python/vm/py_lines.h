/* Converts the line tables of code objects to runs: consecutive instructions
 * that are on the same line. */
#ifndef PY_LINES_H
#define PY_LINES_H

#include <stddef.h>
#include <stdint.h>

/* A run begins at the instruction unit `unit` and ends where the next run
 * begins. */
typedef struct py_sp_line_run {
  uint32_t unit;
  uint32_t line; /* 0: unknown */
} py_sp_line_run;

/* Maximum number of bytes that are read from a table; lines after them are
 * unknown. This is enough for some 5,000 lines of source, and reading them
 * takes 0.2 ms. */
#define PY_SP_LINES_BYTES_MAX 65536

/* Write the runs of a co_linetable to `runs`, or only count them if `runs` is
 * NULL. Returns their number. An instruction without a line belongs to the run
 * of the instruction before it, or to `first_line` if there is none.
 * Signal-safe. */
size_t py_sp_lines_read(const uint8_t *table, size_t bytes, int32_t first_line,
                        py_sp_line_run *runs);

/* Returns the line of an instruction unit, or 0 if it is unknown.
 * Signal-safe. */
uint32_t py_sp_lines_find(const py_sp_line_run *runs, size_t count,
                          uint32_t unit);

#endif
