/* Registers Ruby as a language runtime (spanprof_runtime) with the core.
 * Chooses the mode of the stack walker, and connects the walker, the table of
 * threads and the resolution of names. */
#ifndef RB_RUNTIME_H
#define RB_RUNTIME_H

#include <stdbool.h>

/* Retain the runtime. Called before a session or a recording begins. The first
 * call checks the VM's layout, registers the runtime with the core, registers
 * the existing threads and sets a hook for new threads. Raises Spanprof::Error
 * if this Ruby cannot be profiled, or the calling thread's pending interrupt.
 * If it raises, the runtime is not retained. */
void rb_sp_runtime_retain(void);

/* Release the runtime. Called when a session or recording has ended or could
 * not begin. The last release removes the runtime from the core and stops the
 * naming thread. Returns the result of rb_sp_naming_stop(): an interrupt for
 * rb_jump_tag(), or 0. */
int rb_sp_runtime_release(void);

/* Undo one rb_sp_runtime_retain() without running Ruby code. If it was the last
 * retain, the runtime stays registered until the next rb_sp_runtime_release()
 * that leaves no retain. */
void rb_sp_runtime_forget(void);

/* Returns whether this process has a session or recording that retains the
 * runtime. */
bool rb_sp_runtime_is_retained(void);

/* Resolve the names of all frames that wait for their names. Raises only the
 * pending interrupts of the calling thread. */
void rb_sp_runtime_resolve_all(void);

/* Initializes this file's part, bindings/ruby/vm and the resolution of names.
 * Called once, when the extension loads. */
void rb_sp_runtime_init(void);

#endif
