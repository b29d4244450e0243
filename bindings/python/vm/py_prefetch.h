/* Prefetches the memory that the last sample of a thread read. To take a
 * sample, the handler follows a chain of pointers, most of which have the same
 * targets as in the last sample. A prefetch loads all these targets at the same
 * time instead of one after the other, and it never faults. In the median of
 * samples with cold caches, reading the context takes 1.0 us instead of 2.9 us,
 * and reading the frames of 3.10, which are objects, 2.5 us instead of 4.3 us.
 * Signal-safe. */
#ifndef PY_PREFETCH_H
#define PY_PREFETCH_H

#include "base/py_base.h"

/* Prefetch the addresses that were noted during the last sample of the thread,
 * and start a new list. */
void py_sp_prefetch_begin(const PyThreadState *thread);

/* Add `address` to the thread's list, because the next sample will probably
 * read it too. Does nothing if the list is full. */
void py_sp_prefetch_note(const PyThreadState *thread, const void *address);

#endif
