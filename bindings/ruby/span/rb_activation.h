/* Finds the active span: the span of the OpenTelemetry::Context that is
 * attached to the running fiber. Makes it the span of the fiber's scope. */
#ifndef RB_ACTIVATION_H
#define RB_ACTIVATION_H

#include "base/rb_base.h"

/* Returns the span in an OpenTelemetry::Context, or nil. Valid only after
 * Native.activation_follow. */
VALUE rb_sp_activation_span(VALUE context);

/* Defines Native.activation_follow. */
void rb_sp_activation_init(void);

#endif
