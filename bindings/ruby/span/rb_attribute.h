/* Sets attributes of an OpenTelemetry span that is just starting. */
#ifndef RB_ATTRIBUTE_H
#define RB_ATTRIBUTE_H

#include <ruby.h>

/* Does the same as span.set_attribute(key, value) for each of `count` pairs.
 * The span must not be known to another thread yet. Keys and values are
 * strings; the keys are frozen. May raise. */
void rb_sp_attributes_set(VALUE span, long count, const VALUE *pairs);

/* Called once, when the extension loads. */
void rb_sp_attribute_init(void);

#endif
