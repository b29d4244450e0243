/* Attributes of a span that starts. */
#ifndef RB_ATTRIBUTE_H
#define RB_ATTRIBUTE_H

#include <ruby.h>

/* span.set_attribute(key, value), for a span that no other thread has seen yet.
 * Both are strings; the key is frozen. May raise. */
void rb_sp_attribute_set(VALUE span, VALUE key, VALUE value);

#endif
