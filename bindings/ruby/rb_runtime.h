/* Ruby as the core's language runtime: decides how frames are walked, and
 * brings walker, threads and names together. */
#ifndef RB_RUNTIME_H
#define RB_RUNTIME_H

#include <stdbool.h>

/* Register the runtime with the core, test the VM's layout the first time,
 * adopt the threads there are and hook those to come. Never raises. False:
 * Native.unavailable_reason says why. */
bool rb_sp_runtime_start(void);

/* Undo it. Returns as rb_sp_naming_stop() does. */
int rb_sp_runtime_stop(void);

/* Name every frame that waits for its name. Raises what waited for the calling
 * thread meanwhile, nothing of its own. */
void rb_sp_runtime_resolve_all(void);

#endif
