/* The code objects that the signal handler has found in frames. When it finds a
 * code object for the first time, it copies the name, the file and the lines,
 * so that the collector can name the frame without the interpreter. Each code
 * object gets an id that no other one gets, even if it reuses the address.
 *
 * A space (py_space.h) contains a table of code objects by address, and their
 * copies (py_record.h). An id consists of the generation of the space and the
 * offset of the copy. After the space was emptied, the id has no name; it never
 * has a wrong one.
 *
 * A slot of the table belongs to one address until the space is emptied. The
 * slot's id is 0 while a handler writes the other fields, and each id is used
 * only once. So if a handler reads the same id before and after the other
 * fields, these fields belong together; otherwise the handler makes a copy of
 * its own. */
#ifndef PY_CODE_H
#define PY_CODE_H

#include <stdbool.h>

#include "base/py_base.h"
#include "memory/py_probe.h"

/* What the stack walk needs to know of a code object. */
typedef struct py_sp_code {
  uint64_t id;
  uint32_t units; /* number of instruction units (of two bytes); in 3.10 an
                     upper limit */
  uint32_t words; /* size in words of its frames on the data stack, 0 if
                     unknown; and the flag PY_SP_CODE_HIDDEN */
} py_sp_code;

/* Flag in `words`: samples do not show frames of this code, because the
 * interpreter has inserted it. */
#define PY_SP_CODE_HIDDEN 0x80000000u

/* Reserve the memory of both spaces. Returns 0, or -1 if there is no memory.
 * Further calls do nothing. Needs the GIL. */
int py_sp_code_open(void);

/* Free the slots that handlers on other threads of the parent were writing.
 * Called in a forked child. */
void py_sp_code_after_fork(void);

/* Find the code object at the address `code`, which must be aligned and not
 * NULL; copy it if it is unknown. If `sure` is false, tests first whether there
 * is a live code object. If `sure` is true, the caller guarantees this if its
 * frame is valid, so only an unknown code object is tested. Returns false if
 * there is no live code object. Signal-safe, between py_sp_space_enter() and
 * py_sp_space_leave(). */
bool py_sp_code_find(py_sp_probe *probe, const PyCodeObject *code, bool sure,
                     py_sp_code *out);

/* Prefetch the memory that py_sp_code_find() reads for `code`, which may be any
 * address. The second function prefetches the hashes of name and file. It reads
 * memory that the first function prefetches, so call it some time after the
 * first. */
void py_sp_code_prefetch(const PyCodeObject *code);
void py_sp_code_prefetch_texts(const PyCodeObject *code);

/* Counters since the start of the process. */
typedef struct py_sp_code_counts {
  uint64_t known;      /* number of code objects that were copied */
  uint64_t bytes;      /* bytes in use of the current space */
  uint64_t overflowed; /* number of frames that are named "<overflow>" */
} py_sp_code_counts;

py_sp_code_counts py_sp_code_count(void);

#endif
