/* Methods of ours in the place of Ruby's and of other gems': override.rb, for
 * those that are written in C. */
#ifndef RB_OVERRIDE_H
#define RB_OVERRIDE_H

#include "rb_base.h"

/* Put those of `overrides` in the place of those that `owner` has by their
 * names; or put back what was there, but for what somebody wraps, so that each
 * of them has to do without us, too. Neither raises of itself: what waits for
 * the calling thread may be raised then. */
void rb_sp_override_install(VALUE owner, VALUE overrides);
void rb_sp_override_remove(VALUE owner, VALUE overrides);

/* What rb_sp_override_call() calls in the place of the method `name`. */
ID rb_sp_override_kept(const char *name);

/* Call the original of the running method, with the keywords and the block that
 * this was given. */
VALUE rb_sp_override_call(VALUE self, ID kept, int argc, const VALUE *argv);

#endif
