/* Where each CPython stores the thread states. Separate from py_layout.h,
 * because the internal header that it needs declares many other names. */
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

/* Returns the key of the thread-specific data that contains the thread's state,
 * or NULL if CPython uses no key (3.15). PyGILState_GetThisThreadState() uses
 * the same key, but reads pages of several libraries to do so. */
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
