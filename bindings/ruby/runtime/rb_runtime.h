/* Ruby as a language runtime of the core. Chooses the mode of the walker, and
 * connects walker, threads and names. */
#ifndef RB_RUNTIME_H
#define RB_RUNTIME_H

#include <stdbool.h>

/* Called before a session or a recording begins. The first call checks the VM's
 * layout, registers the runtime with the core, registers the existing threads
 * and hooks the creation of new ones. Raises Spanprof::Error if this Ruby
 * cannot be profiled, or the calling thread's pending interrupt. In both cases
 * the runtime is not retained. */
void rb_sp_runtime_retain(void);

/* Called when the session or recording has ended or could not begin. The last
 * call undoes the first rb_sp_runtime_retain(). Returns the same as
 * rb_sp_naming_stop(). */
int rb_sp_runtime_release(void);

/* As rb_sp_runtime_release(), but runs no Ruby code. If this was the last
 * retain, the runtime stays registered until rb_sp_runtime_release() is called
 * and no other retain is left. */
void rb_sp_runtime_forget(void);

/* Returns whether this process has a session or recording that retains the
 * runtime. */
bool rb_sp_runtime_is_retained(void);

/* Resolve the names of all waiting frames. Raises only the pending interrupts
 * of the calling thread. */
void rb_sp_runtime_resolve_all(void);

/* Initializes this part, the walker and the names. Called once, when the
 * extension loads. */
void rb_sp_runtime_init(void);

#endif
