/* Code objects as the signal handler saw them: name, file and lines, copied at
 * first sight, so that nothing of the interpreter is needed to name a frame
 * later, and an id that no other code object gets, whatever takes its address.
 *
 * A space (py_space.h) holds a table by address and the copies (py_record.h).
 * An id is the space's generation and the copy's place: one whose space has
 * been emptied since gets no name, never a wrong one.
 *
 * A place of the table belongs to one address for good. Its id is 0 while a
 * handler writes the other fields, and never the same twice: a handler that
 * reads the same id before and after them has read what belongs together, and
 * one that does not takes a copy of its own. */
#ifndef PY_CODE_H
#define PY_CODE_H

#include <stdbool.h>

#include "base/py_base.h"
#include "memory/py_probe.h"

/* What a walk needs to know of a code object. */
typedef struct py_sp_code {
  uint64_t id;
  uint32_t units; /* of instructions, at most */
  uint32_t words; /* of its frames on the data stack, 0: not known; and
                   * PY_SP_CODE_HIDDEN */
} py_sp_code;

/* Of `words`: no function of the program. */
#define PY_SP_CODE_HIDDEN 0x80000000u

/* Reserve memory. 0, or -1 where there is none. Idempotent; with the GIL. */
int py_sp_code_open(void);

/* In the child of a fork: no other thread's handler goes on with what it was
 * writing. */
void py_sp_code_after_fork(void);

/* What stands at `code`, which is aligned and not NULL; `sure`: it is a live
 * code object unless the frame is none, so that only an unknown one is looked
 * at with care. False: no code object. Signal-safe, inside the space. */
bool py_sp_code_find(py_sp_probe *probe, const PyCodeObject *code, bool sure,
                     py_sp_code *out);

/* Have what py_sp_code_find() will read of `code`, any address, fetched from
 * memory meanwhile; and, once that has come, what it will read then. */
void py_sp_code_prefetch(const PyCodeObject *code);
void py_sp_code_prefetch_texts(const PyCodeObject *code);

/* Counted since the process began. */
typedef struct py_sp_code_counts {
  uint64_t known;      /* code objects copied */
  uint64_t bytes;      /* used of the current space */
  uint64_t overflowed; /* frames called "<overflow>" */
} py_sp_code_counts;

py_sp_code_counts py_sp_code_count(void);

#endif
