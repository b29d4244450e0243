/* spanprof_options out of a Hash. */
#ifndef RB_OPTIONS_H
#define RB_OPTIONS_H

#include "rb_spanprof.h"

typedef struct rb_sp_options {
  spanprof_options core;
  VALUE pairs; /* a String that holds core.label_pairs */
  VALUE texts; /* an Array that keeps the Strings alive core points into */
} rb_sp_options;

/* Set what `hash` gives: each key is a Symbol named like a field, and nil is
 * "not given". `labels` may be a Hash too, of Strings. Texts point into
 * Strings: keep `out` on the stack, and RB_GC_GUARD both VALUEs, until the
 * options were read. Raises Spanprof::Error with one sentence that names the
 * option. */
void rb_sp_options_read(rb_sp_options *out, VALUE hash);

#endif
