/* Copies of code objects, which name their frames after the code objects were
 * freed. */
#ifndef PY_RECORD_H
#define PY_RECORD_H

#include "base/py_base.h"
#include "memory/py_probe.h"
#include "memory/py_space.h"

#define PY_SP_RECORD_FILES (1u << 11)

/* Size of the table at the start of a space: the offsets of the file names.
 * Most code objects of a file share its name. */
#define PY_SP_RECORD_HEAD_BYTES \
  ((uint32_t)(PY_SP_RECORD_FILES * sizeof(uint32_t)))

/* The id of all code objects that did not fit: "<overflow>". */
#define PY_SP_RECORD_OVERFLOW 1

/* Copy a readable code object. Returns its id, or 0 if the space is full.
 * Signal-safe, between py_sp_space_enter() and py_sp_space_leave(). */
uint64_t py_sp_record_make(py_sp_space *space, py_sp_probe *probe,
                           const PyCodeObject *code);

/* Returns the line of an instruction unit, or 0 if it is unknown. Any
 * thread. */
uint32_t py_sp_record_line(uint64_t id, uint32_t unit);

/* Returns the first line of the function, or 0 if it is unknown. Any thread. */
uint32_t py_sp_record_first_line(uint64_t id);

/* Fill in name, file and first line; `out->line` stays. Only one thread may
 * call it at a time. The texts are valid until the next call.
 * SPANPROF_ERR_STATE: the space of this id was emptied. */
spanprof_status py_sp_record_name(uint64_t id, spanprof_name *out);

#endif
