/* Code objects as the signal handler saw them. At the first sight of a code
 * object, the handler copies its name, file and lines, so that a frame can be
 * named later without the interpreter. Each code object gets an id that no
 * other one gets, even if it reuses the address.
 *
 * A space (py_space.h) contains a table by address and the copies
 * (py_record.h). An id consists of the space's generation and the offset of the
 * copy. If the space has been emptied since, the id has no name; it never has a
 * wrong one.
 *
 * A slot of the table belongs to one address for the life of the space. Its id
 * is 0 while a handler writes the other fields, and each id is used only once.
 * A handler that reads the same id before and after the other fields has
 * therefore read consistent fields; otherwise it creates a copy of its own. */
#ifndef PY_CODE_H
#define PY_CODE_H

#include <stdbool.h>

#include "base/py_base.h"
#include "memory/py_probe.h"

/* The data of a code object that a walk needs. */
typedef struct py_sp_code {
  uint64_t id;
  uint32_t units; /* number of instruction units, at most */
  uint32_t words; /* size of its frames on the data stack in words, 0 if
                     unknown; plus the flag PY_SP_CODE_HIDDEN */
} py_sp_code;

/* Flag in `words`: not a function of the program. */
#define PY_SP_CODE_HIDDEN 0x80000000u

/* Reserve memory. Returns 0, or -1 if there is no memory. Idempotent. Needs the
 * GIL. */
int py_sp_code_open(void);

/* In the child of a fork: release the slots that handlers of the parent's
 * threads were writing. */
void py_sp_code_after_fork(void);

/* Find the code object at `code`, which must be aligned and not NULL. If
 * `sure`, `code` is a live code object provided that the frame is valid. Then a
 * code object that the table knows is not validated again; an unknown one
 * always is. Returns false if it is not a code object. Signal-safe, between
 * py_sp_space_enter() and py_sp_space_leave(). */
bool py_sp_code_find(py_sp_probe *probe, const PyCodeObject *code, bool sure,
                     py_sp_code *out);

/* Prefetch the memory that py_sp_code_find() reads of `code`, which may be any
 * address. Call the second function later: it reads the prefetched memory and
 * prefetches the texts. */
void py_sp_code_prefetch(const PyCodeObject *code);
void py_sp_code_prefetch_texts(const PyCodeObject *code);

/* Counted since the start of the process. */
typedef struct py_sp_code_counts {
  uint64_t known;      /* code objects copied */
  uint64_t bytes;      /* bytes used of the current space */
  uint64_t overflowed; /* frames named "<overflow>" */
} py_sp_code_counts;

py_sp_code_counts py_sp_code_count(void);

#endif
