/* Attributes of a span that starts. */
#ifndef RB_ATTRIBUTE_H
#define RB_ATTRIBUTE_H

#include <ruby.h>

/* span.set_attribute(key, value) for each of `count` pairs, and a span that no
 * other thread has seen yet. All are strings; the keys are frozen. May raise.
 */
void rb_sp_attributes_set(VALUE span, long count, const VALUE *pairs);

/* Once, when the extension loads. */
void rb_sp_attribute_init(void);

#endif
