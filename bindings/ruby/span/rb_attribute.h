/* Sets attributes of a span that starts. */
#ifndef RB_ATTRIBUTE_H
#define RB_ATTRIBUTE_H

#include <ruby.h>

/* Does the same as span.set_attribute(key, value) for each of `count` pairs. No
 * other thread may know the span yet. Keys and values are strings; the keys are
 * frozen. May raise. */
void rb_sp_attributes_set(VALUE span, long count, const VALUE *pairs);

/* Called once, when the extension loads. */
void rb_sp_attribute_init(void);

#endif
