/* The queue of language frames that wait for their names.
 *
 * Protocol: the collector adds the frames that are new to a profile, and later
 * fetches their names, which the profile stores. In between, the runtime's
 * `resolve` is called for each frame: by the collector when it fetches names,
 * or, if the runtime has `want_names`, by the threads that call
 * spanprof_runtime_resolve(). The lock guards the queue. `resolve` is called
 * without the lock. */
#ifndef SP_RUNTIME_NAMES_H
#define SP_RUNTIME_NAMES_H

#include <spanprof/runtime.h>

#include "profile/tables/frame.h"
#include "util/memory/mem.h"

/* Called with the name of a frame, or without a function if the runtime has no
 * name for it. The texts are valid during the call. */
typedef void sp_runtime_named_fn(void *data, const sp_frame *frame,
                                 const sp_frame_name *name);

/* Add a frame to the queue. SPANPROF_ERR_NOMEM. Called on the collector's
 * thread. */
spanprof_status sp_runtime_names_add(const sp_frame *frame);

/* Deliver the available names to `fn`, and remove their frames. Returns the
 * number of frames that still wait, or 0 if there is no runtime. Called on the
 * collector's thread. */
size_t sp_runtime_names_deliver(sp_runtime_named_fn *fn, void *data);

/* Call the runtime's `want_names` if frames wait. */
void sp_runtime_names_request(void);

/* Empty the queue. Frames without a name can be added again. Called on the
 * collector's thread. */
void sp_runtime_names_clear(void);

/* Around a fork. */
void sp_runtime_names_before_fork(void);
void sp_runtime_names_after_fork(bool child);

/* For tests that fail allocations: empty the queue, and allocate from `mem`
 * (NULL: sp_mem_paged) from now on. */
void sp_runtime_names_reset(const sp_mem *mem);

#endif
