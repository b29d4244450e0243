/* Copies of code objects: what names their frames when they are long gone. */
#ifndef PY_RECORD_H
#define PY_RECORD_H

#include "base/py_base.h"
#include "memory/py_probe.h"
#include "memory/py_space.h"

#define PY_SP_RECORD_FILES (1u << 11)

/* What the copies need at the start of a space: where its files' texts are,
 * which most of a file's code objects share. */
#define PY_SP_RECORD_HEAD_BYTES \
  ((uint32_t)(PY_SP_RECORD_FILES * sizeof(uint32_t)))

/* The id of all code for which there was no room: "<overflow>". */
#define PY_SP_RECORD_OVERFLOW 1

/* Copy a code object, which is readable and one; its id, or 0: no room.
 * Signal-safe, inside the space. */
uint64_t py_sp_record_make(py_sp_space *space, py_sp_probe *probe,
                           const PyCodeObject *code);

/* The line of an instruction unit; 0: not known. Any thread. */
uint32_t py_sp_record_line(uint64_t id, uint32_t unit);

/* The line where its function begins; 0: not known. Any thread. */
uint32_t py_sp_record_first_line(uint64_t id);

/* Name, file and first line; `out->line` stays. One thread at a time; texts
 * are valid until the next call. SPANPROF_ERR_STATE: the space of that id was
 * emptied since. */
spanprof_status py_sp_record_name(uint64_t id, spanprof_name *out);

#endif
