/* Memory that signal handlers fill: two spaces, one of which is current.
 *
 * Protocol: handlers of any number of threads take room from the current space
 * and publish what they wrote there by one store; nothing published changes.
 * When the space is full, the first handler that finds the other one long out
 * of use, and no other handler at work, empties that one and makes it the
 * current one. A space's generation, of which no two are alike, says what it
 * holds; 0 while it is being emptied. */
#ifndef PY_SPACE_H
#define PY_SPACE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Pages are taken as they fill. */
#define PY_SP_SPACE_BYTES (4u << 20)

typedef struct py_sp_space {
  char *base; /* zero where nothing was written */
  _Atomic uint64_t generation;
  _Atomic uint32_t used;  /* bytes of base */
  _Atomic uint32_t count; /* for the owner of what stands in it; begins at 0 */
} py_sp_space;

/* Reserve both; the first `head_bytes` of each are not handed out. 0, or -1
 * where there is no memory. Idempotent; with the GIL. */
int py_sp_space_open(uint32_t head_bytes);

/* The current space; NULL before py_sp_space_open(). Signal-safe, between enter
 * and leave, as are the next two. */
py_sp_space *py_sp_space_current(void);

/* The offset of `bytes` of room, a multiple of 8; 0: the space is full. */
uint32_t py_sp_space_take(py_sp_space *space, size_t bytes);

/* Go on in the other space. Returns the one that is current then; NULL: `full`
 * still is, because what the other one holds may still be wanted. */
py_sp_space *py_sp_space_switch(py_sp_space *full);

/* The space of a generation, or NULL. It may be emptied at any time: look at
 * its generation again after reading. Any thread. */
const py_sp_space *py_sp_space_of(uint64_t generation);

/* Around everything that a handler does with spaces; signal-safe. */
void py_sp_space_enter(void);
void py_sp_space_leave(void);

/* Wait until no handler is inside. */
void py_sp_space_quiesce(void);

/* In the child of a fork: nobody is inside. */
void py_sp_space_after_fork(void);

/* How often a space was emptied. */
uint64_t py_sp_space_emptied(void);

#endif
