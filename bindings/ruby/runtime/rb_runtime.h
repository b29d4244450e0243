/* Ruby as the core's language runtime: decides how frames are walked, and
 * brings walker, threads and names together. */
#ifndef RB_RUNTIME_H
#define RB_RUNTIME_H

#include <stdbool.h>

/* Called before a session or a recording begins. The first call checks the VM's
 * layout, registers the runtime with the core, registers the existing threads
 * and hooks the creation of new ones. Raises Spanprof::Error if this Ruby
 * cannot be profiled, or the calling thread's pending interrupt; the runtime is
 * not held then. */
void rb_sp_runtime_hold(void);

/* Called when the session or recording has ended or could not begin. The last
 * call undoes the first rb_sp_runtime_hold(). Returns the same as
 * rb_sp_naming_stop(). */
int rb_sp_runtime_release(void);

/* As the release, where no Ruby code may run: what the last one would undo is
 * left to the next that is. */
void rb_sp_runtime_forget(void);

/* Is anything held in this process? */
bool rb_sp_runtime_held(void);

/* Name every frame that waits for its name. Raises what waited for the calling
 * thread meanwhile, nothing of its own. */
void rb_sp_runtime_resolve_all(void);

/* Once, when the extension loads; for the walker and the names, too. */
void rb_sp_runtime_init(void);

#endif
