/* The place of the thread states in each CPython. Separate from py_layout.h,
 * because its internal header declares many other names. */
#ifndef PY_LAYOUT_THREAD_H
#define PY_LAYOUT_THREAD_H

#include "py_layout.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wstrict-prototypes"
#include <internal/pycore_runtime.h>
#pragma GCC diagnostic pop

/* The key under which a thread finds its state. PyGILState_GetThisThreadState()
 * looks it up through pages of several libraries. NULL if CPython does not use
 * a key (3.15). */
static inline const Py_tss_t *layout_thread_key(void) {
#if PY_VERSION_HEX >= 0x030f0000
  return NULL;
#elif PY_VERSION_HEX >= 0x030c0000
  return &_PyRuntime.autoTSSkey;
#else
  return &_PyRuntime.gilstate.autoTSSkey;
#endif
}

#endif
