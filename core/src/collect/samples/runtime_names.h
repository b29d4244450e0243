/* The names of the frames that the language runtime's walker wrote.
 *
 * Protocol: names are looked up by the collector; where the runtime wants to be
 * asked from a thread of its own, frames wait until that thread calls
 * spanprof_runtime_resolve(). Names are kept as long as the runtime they are of
 * is the last that was registered, so that frames it walked can be named after
 * it went. The runtime is called without the lock. */
#ifndef SP_RUNTIME_NAMES_H
#define SP_RUNTIME_NAMES_H

#include <spanprof/runtime.h>

#include "profile/profile.h"

/* Take note of a frame at its first sight, so that it is named soon.
 * Collector only. */
void sp_runtime_note(const spanprof_frame *frame);

/* Name of a frame; valid until the next call. SPANPROF_ERR_STATE: not known
 * yet. Collector only. */
spanprof_status sp_runtime_name(const sp_frame *frame, sp_frame_name *out);

/* A window was handed on, and no frame is in use that was noted before it
 * began. Of many names, forget those of frames that were in none of the last
 * two windows: a runtime may have new numbers for the same code. Collector
 * only. */
void sp_runtime_names_age(void);

/* Ask the runtime for the names that wait; returns how many still do. */
size_t sp_runtime_request(void);

/* Around a fork. */
void sp_runtime_names_before_fork(void);
void sp_runtime_names_after_fork(bool child);

/* For tests that fail allocations: forget every name, and allocate from `mem`
 * (NULL: the C library) from now on. */
void sp_runtime_names_reset(const sp_mem *mem);

#endif
