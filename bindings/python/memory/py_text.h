/* The text of str objects, read in the signal handler. */
#ifndef PY_TEXT_H
#define PY_TEXT_H

#include <stdbool.h>

#include "base/py_base.h"
#include "py_probe.h"

/* The characters of a compact str. */
typedef struct py_sp_text {
  const void *data;
  size_t length; /* in characters */
  int kind;      /* bytes per character: 1, 2 or 4 */
  bool ascii;
} py_sp_text;

/* Look at an object that is alive if `probe` is NULL, else may be anything;
 * false: no str whose characters stand with it. Signal-safe. */
bool py_sp_text_look(py_sp_probe *probe, const PyObject *object,
                     py_sp_text *out);

/* Write at most `max` bytes of UTF-8, cut between characters; returns how
 * many. `to` NULL: only count. Signal-safe. */
size_t py_sp_text_copy(const py_sp_text *text, char *to, size_t max);

/* A number that differs for different texts but for accidents: the hash the
 * interpreter keeps, or one of the ends of the text; 0: no such str. `probe` as
 * above, but NULL also says that it is a str. Signal-safe. */
uint64_t py_sp_text_hash(py_sp_probe *probe, const PyObject *object);

#endif
