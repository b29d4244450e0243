/* Functions for replacement methods that are written in C. They call
 * lib/spanprof/override.rb, which replaces methods of the program and its
 * libraries. */
#ifndef RB_OVERRIDE_H
#define RB_OVERRIDE_H

#include "rb_base.h"

/* rb_sp_override_install() replaces each method of `owner` by the method of the
 * same name in the module `overrides`. rb_sp_override_remove() restores the
 * original methods. A replacement that other code has wrapped is not removed,
 * so each replacement must also work while the profiler is off. Neither
 * function raises an exception of its own, but the pending interrupts of the
 * calling thread may be raised. */
void rb_sp_override_install(VALUE owner, VALUE overrides);
void rb_sp_override_remove(VALUE owner, VALUE overrides);

/* Returns the name under which the original of the method `name` is available.
 * rb_sp_override_call() takes this name. */
ID rb_sp_override_original(const char *name);

/* Call the original of the running replacement method with these arguments, and
 * with the keywords and the block that the running method got. */
VALUE rb_sp_override_call(VALUE self, ID original, int argc, const VALUE *argv);

#endif
