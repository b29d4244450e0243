/* The language runtime of the process: its callbacks and its code.
 *
 * Protocol: the handler and the collector enter the runtime through
 * sp_runtime_enter() and leave it; unregistering hides it, then waits until
 * nobody is inside. */
#ifndef SP_RUNTIME_H
#define SP_RUNTIME_H

#include <spanprof/runtime.h>

#include "util/base.h"

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

/* How many runtimes were registered so far. */
uint32_t sp_runtime_registrations(void);

/* Around a fork. */
void sp_runtime_before_fork(void);
void sp_runtime_after_fork(bool child);

#endif
