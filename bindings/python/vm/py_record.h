/* Copies of code objects. With them, frames can be named after the code object
 * was freed. */
#ifndef PY_RECORD_H
#define PY_RECORD_H

#include "base/py_base.h"
#include "memory/py_probe.h"
#include "memory/py_space.h"

#define PY_SP_RECORD_FILES (1u << 11)

/* Size of the table at the start of a space. The table has the offsets of file
 * names, so that the code objects of a file share one copy of its name. */
#define PY_SP_RECORD_HEAD_BYTES \
  ((uint32_t)(PY_SP_RECORD_FILES * sizeof(uint32_t)))

/* The id of all code objects for which there was no memory. Its name is
 * "<overflow>". */
#define PY_SP_RECORD_OVERFLOW 1

/* Copy a code object, which must be readable, to the space. Returns its id, or
 * 0 if the space is full. Signal-safe, between py_sp_space_enter() and
 * py_sp_space_leave(). */
uint64_t py_sp_record_make(py_sp_space *space, py_sp_probe *probe,
                           const PyCodeObject *code);

/* Returns the line of an instruction unit of the code object `id`, or 0 if it
 * is unknown. May be called on any thread. */
uint32_t py_sp_record_line(uint64_t id, uint32_t unit);

/* Returns the first line of the code object `id`, or 0 if it is unknown. May be
 * called on any thread. */
uint32_t py_sp_record_first_line(uint64_t id);

/* Set the name, the file and the first line of *out; its `line` stays. Only one
 * thread may call this function at a time. The texts are valid until the next
 * call. Returns SPANPROF_ERR_STATE if the space of this id was emptied. */
spanprof_status py_sp_record_name(uint64_t id, spanprof_name *out);

#endif
