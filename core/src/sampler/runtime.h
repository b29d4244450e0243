/* The language runtime of the process: its callbacks, and the names of the
 * frames it walked.
 *
 * Protocol: the handler and the collector enter the runtime through
 * sp_runtime_enter() and leave it; unregistering hides it, then waits until
 * nobody is inside. Names are looked up by the collector under `lock`; where
 * the runtime wants to be asked from a thread of its own, frames wait in a list
 * until that thread calls spanprof_runtime_resolve(). */
#ifndef SP_RUNTIME_H
#define SP_RUNTIME_H

#include "../profile/profile.h"

/* The registered runtime, to be left again, or NULL. */
SP_HANDLER_CODE const spanprof_runtime *sp_runtime_enter(void);
SP_HANDLER_CODE void sp_runtime_leave(void);

/* Does a native pc lie in the eval loop, or in code by which that calls?
 * Between enter and leave. */
bool sp_runtime_evaluates(const spanprof_runtime *runtime, uint64_t pc);
bool sp_runtime_calls(const spanprof_runtime *runtime, uint64_t pc);

#define SP_RUNTIME_TEXT_BYTES 64

/* Name and version (cut to the buffer) of the runtime registered last, "" where
 * there was none, and how many were registered so far. */
uint32_t sp_runtime_identity(char name[SP_RUNTIME_TEXT_BYTES],
                             char version[SP_RUNTIME_TEXT_BYTES]);

/* Take note of a frame at its first sight, so that it is named soon.
 * Collector only. */
void sp_runtime_note(const spanprof_frame *frame);

/* Name of a frame; valid until the next call. SPANPROF_ERR_STATE: not known
 * yet. Collector only. */
spanprof_status sp_runtime_name(const sp_frame *frame, sp_frame_name *out);

/* Ask the runtime for the names that wait; returns how many still do. */
size_t sp_runtime_request(void);

/* Fork, as for the label room. */
void sp_runtime_before_fork(void);
void sp_runtime_after_fork(bool child);

#endif
