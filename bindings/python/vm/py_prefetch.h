/* Prefetches the memory that a thread's last sample read. A sample follows a
 * chain of pointers, which mostly have the same targets as in the last sample.
 * Prefetching loads all targets at the same time instead of one after the
 * other. A prefetch is a hint: it never faults. In the median of cold samples,
 * reading the context takes 1.0 instead of 2.9 us, and reading the frames of
 * 3.10, which are objects, 2.5 instead of 4.3 us. Signal-safe. */
#ifndef PY_PREFETCH_H
#define PY_PREFETCH_H

#include "base/py_base.h"

/* Prefetch the addresses that the thread's last sample noted, and start a new
 * list. */
void py_sp_prefetch_begin(const PyThreadState *thread);

/* Note `address`, which the next sample will probably read too. Ignored if the
 * list is full. */
void py_sp_prefetch_note(const PyThreadState *thread, const void *address);

#endif
