/* Reads the text of str objects in the signal handler. */
#ifndef PY_TEXT_H
#define PY_TEXT_H

#include <stdbool.h>

#include "base/py_base.h"
#include "py_probe.h"

/* The characters of a compact str: one that stores them behind its header. */
typedef struct py_sp_text {
  const void *data;
  size_t length; /* in characters */
  int kind;      /* bytes per character: 1, 2 or 4 */
  bool ascii;
} py_sp_text;

/* Read the header of a compact str. If `probe` is NULL, `object` must be a live
 * object; otherwise it may be any address. Returns false if `object` is not a
 * compact str. Signal-safe. */
bool py_sp_text_read(py_sp_probe *probe, const PyObject *object,
                     py_sp_text *out);

/* Write the text in UTF-8 to `to`, cut between two characters to at most `max`
 * bytes, and return the number of bytes. If `to` is NULL, only count the bytes.
 * Signal-safe. */
size_t py_sp_text_copy(const py_sp_text *text, char *to, size_t max);

/* Returns a number that almost certainly differs for different texts: the hash
 * that the interpreter has stored in the str, or a hash of both ends of the
 * text. Returns 0 if `object` is not a compact str. If `probe` is NULL,
 * `object` must be a live str; otherwise it may be any address. Signal-safe. */
uint64_t py_sp_text_hash(py_sp_probe *probe, const PyObject *object);

#endif
