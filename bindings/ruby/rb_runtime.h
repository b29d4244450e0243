/* Ruby as the core's language runtime: decides how frames are walked, and
 * brings walker, threads and names together. */
#ifndef RB_RUNTIME_H
#define RB_RUNTIME_H

#include <stdbool.h>

/* For a session or a recording that is about to begin. The first of them tests
 * the VM's layout, once, registers the runtime with the core, adopts the
 * threads there are and hooks those to come. Raises Spanprof::Error where this
 * Ruby cannot be profiled, and what waited for the calling thread meanwhile:
 * nothing is held then. */
void rb_sp_runtime_hold(void);

/* When it is over, or did not begin; the last one undoes all that. Returns as
 * rb_sp_naming_stop() does. */
int rb_sp_runtime_release(void);

/* As the release, where no Ruby code may run: what the last one would undo is
 * left to the next that is. */
void rb_sp_runtime_forget(void);

/* Is anything held in this process? */
bool rb_sp_runtime_held(void);

/* Name every frame that waits for its name. Raises what waited for the calling
 * thread meanwhile, nothing of its own. */
void rb_sp_runtime_resolve_all(void);

#endif
