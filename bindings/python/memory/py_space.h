/* Memory that signal handlers fill. It consists of two spaces; the one in use
 * is the current space.
 *
 * Protocol: the handlers of any number of threads allocate from the current
 * space and publish their data there with one store. Published data never
 * changes. When the space is full, a handler empties the other space and makes
 * it current, provided that the other space stopped being current at least five
 * seconds ago and that no other handler is between py_sp_space_enter() and
 * py_sp_space_leave(). The generation of a space identifies its contents: each
 * generation is unique, and it is 0 while the space is being emptied. */
#ifndef PY_SPACE_H
#define PY_SPACE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Size of each space. The kernel allocates a page when it is first written. */
#define PY_SP_SPACE_BYTES (4u << 20)

typedef struct py_sp_space {
  char *base; /* zero where nothing was written */
  _Atomic uint64_t generation;
  _Atomic uint32_t used;  /* bytes of `base` that are allocated */
  _Atomic uint32_t count; /* counter for the callers; 0 in an empty space */
} py_sp_space;

/* Reserve both spaces. The first `head_bytes` of each space are never
 * allocated. Returns 0, or -1 if there is no memory. Further calls do nothing.
 * Needs the GIL. */
int py_sp_space_open(uint32_t head_bytes);

/* Returns the current space, or NULL before py_sp_space_open(). This function
 * and the next two are signal-safe, between py_sp_space_enter() and
 * py_sp_space_leave(). */
py_sp_space *py_sp_space_current(void);

/* Allocate `bytes` bytes. Returns their offset in the space, a multiple of 8,
 * or 0 if the space is full. */
uint32_t py_sp_space_allocate(py_sp_space *space, size_t bytes);

/* Make the other space current if `full` is still the current one. Returns the
 * new current space, or NULL if `full` stays current because the contents of
 * the other space may still be needed. */
py_sp_space *py_sp_space_switch(py_sp_space *full);

/* Returns the space that has this generation, or NULL. A handler may empty the
 * space at any time, so compare its generation again after reading. May be
 * called on any thread. */
const py_sp_space *py_sp_space_of(uint64_t generation);

/* A handler calls these before and after it uses a space. Signal-safe. */
void py_sp_space_enter(void);
void py_sp_space_leave(void);

/* Wait until no handler is between py_sp_space_enter() and
 * py_sp_space_leave(). */
void py_sp_space_quiesce(void);

/* Set the number of running handlers to 0, because they ran on the parent's
 * threads. Called in a forked child. */
void py_sp_space_after_fork(void);

/* Returns how often a space was emptied. */
uint64_t py_sp_space_emptied(void);

#endif
