/* Interface of lib/spanprof/override.rb for replacement methods in C. */
#ifndef RB_OVERRIDE_H
#define RB_OVERRIDE_H

#include "rb_base.h"

/* Install: replace each method of `owner` by the method of the same name in
 * `overrides`. Remove: restore the originals. A replacement that other code has
 * wrapped is not removed, so each replacement must also work while the profiler
 * is off. Neither function raises an exception of its own, but the pending
 * interrupts of the calling thread may be raised. */
void rb_sp_override_install(VALUE owner, VALUE overrides);
void rb_sp_override_remove(VALUE owner, VALUE overrides);

/* Name under which the original of the method `name` is available, for
 * rb_sp_override_call(). */
ID rb_sp_override_original(const char *name);

/* Call the original of the running method with the running method's keywords
 * and block. */
VALUE rb_sp_override_call(VALUE self, ID original, int argc, const VALUE *argv);

#endif
