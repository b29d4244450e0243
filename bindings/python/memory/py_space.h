/* Memory that signal handlers fill: two spaces, one of which is current.
 *
 * Protocol: the handlers of any number of threads allocate from the current
 * space and publish their data there with one store. Published data never
 * changes. When the space is full, a handler empties the other space and makes
 * it current, provided that the other space has been out of use for five
 * seconds and that no other handler is between enter and leave. The generation
 * of a space identifies its contents: each generation is unique, and it is 0
 * while the space is being emptied. */
#ifndef PY_SPACE_H
#define PY_SPACE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The kernel allocates the pages when they are first written. */
#define PY_SP_SPACE_BYTES (4u << 20)

typedef struct py_sp_space {
  char *base; /* zero where nothing was written */
  _Atomic uint64_t generation;
  _Atomic uint32_t used;  /* bytes of base */
  _Atomic uint32_t count; /* for the owner of the contents; starts at 0 */
} py_sp_space;

/* Reserve both spaces. The first `head_bytes` of each space are never
 * allocated. Returns 0, or -1 if there is no memory. Idempotent. Needs the
 * GIL. */
int py_sp_space_open(uint32_t head_bytes);

/* Returns the current space, or NULL before py_sp_space_open(). Signal-safe
 * between enter and leave, as are the next two functions. */
py_sp_space *py_sp_space_current(void);

/* Allocate `bytes` bytes. Returns their offset, a multiple of 8, or 0 if the
 * space is full. */
uint32_t py_sp_space_allocate(py_sp_space *space, size_t bytes);

/* Make the other space current if `full` still is. Returns the space that is
 * current then, or NULL if `full` stays current because the other space's
 * contents may still be needed. */
py_sp_space *py_sp_space_switch(py_sp_space *full);

/* Returns the space of a generation, or NULL. The space may be emptied at any
 * time: compare its generation again after reading. Any thread. */
const py_sp_space *py_sp_space_of(uint64_t generation);

/* Surround all use of spaces by a handler. Signal-safe. */
void py_sp_space_enter(void);
void py_sp_space_leave(void);

/* Wait until no handler is between enter and leave. */
void py_sp_space_quiesce(void);

/* In the child of a fork: forget the handlers of the parent's threads. */
void py_sp_space_after_fork(void);

/* Returns how often a space was emptied. */
uint64_t py_sp_space_emptied(void);

#endif
