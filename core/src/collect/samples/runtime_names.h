/* The queue of language frames that wait for their names.
 *
 * Protocol: the collector adds the frames that are new to a profile, and later
 * fetches their names, which the profile stores. The runtime's `resolve` is
 * called for each frame in the queue: by the collector when it fetches names,
 * or, if the runtime has `want_names`, by the threads that call
 * spanprof_runtime_resolve(). A lock guards the queue. `resolve` is called
 * without this lock. */
#ifndef SP_RUNTIME_NAMES_H
#define SP_RUNTIME_NAMES_H

#include <spanprof/runtime.h>

#include "profile/tables/frame.h"
#include "util/memory/mem.h"

/* Receives the name of a frame. If the runtime has no name for the frame,
 * name->function is NULL. The texts are valid during the call. */
typedef void sp_runtime_named_fn(void *data, const sp_frame *frame,
                                 const sp_frame_name *name);

/* Add a frame to the queue. Returns SPANPROF_OK or SPANPROF_ERR_NOMEM. Called
 * on the collector thread. */
spanprof_status sp_runtime_names_add(const sp_frame *frame);

/* Call `fn` with each name that has arrived, and remove its frame from the
 * queue. Returns the number of frames that still wait, or 0 if there is no
 * runtime. Called on the collector thread. */
size_t sp_runtime_names_deliver(sp_runtime_named_fn *fn, void *data);

/* If frames wait, call the runtime's `want_names`. */
void sp_runtime_names_request(void);

/* Empty the queue. Frames that still waited can be added again. Called on the
 * collector thread. */
void sp_runtime_names_clear(void);

/* Called before and after a fork. */
void sp_runtime_names_before_fork(void);
void sp_runtime_names_after_fork(bool child);

/* For tests that fail allocations: empty the queue, and allocate from `mem`
 * (NULL: sp_mem_paged) from now on. */
void sp_runtime_names_reset(const sp_mem *mem);

#endif
