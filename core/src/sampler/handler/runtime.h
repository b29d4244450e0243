/* The registered language runtime: its callbacks and its code ranges.
 *
 * Protocol: the handler and the collector call sp_runtime_enter() before they
 * use the runtime and sp_runtime_leave() afterwards. Unregistering hides the
 * runtime, then waits until every caller has left it. */
#ifndef SP_RUNTIME_H
#define SP_RUNTIME_H

#include <spanprof/runtime.h>

#include "util/base.h"

/* Returns the registered runtime, or NULL. In both cases the caller must call
 * sp_runtime_leave(). */
SP_HANDLER_CODE const spanprof_runtime *sp_runtime_enter(void);
SP_HANDLER_CODE void sp_runtime_leave(void);

/* Is a native pc in the eval loop? Must be called between sp_runtime_enter()
 * and sp_runtime_leave(). */
bool sp_runtime_evaluates(const spanprof_runtime *runtime, uint64_t pc);

#define SP_RUNTIME_TEXT_BYTES 64

/* Get name and version of the last registered runtime, truncated to the
 * buffers; both are "" if there was none. Returns the number of registrations
 * so far. */
uint32_t sp_runtime_identity(char name[SP_RUNTIME_TEXT_BYTES],
                             char version[SP_RUNTIME_TEXT_BYTES]);

/* The number of registrations so far. */
uint32_t sp_runtime_registrations(void);

/* Called around a fork. */
void sp_runtime_before_fork(void);
void sp_runtime_after_fork(bool child);

#endif
