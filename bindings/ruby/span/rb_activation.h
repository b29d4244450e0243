/* Which span is active: what OpenTelemetry::Context has attached to the
 * running fiber, told on to its scope. */
#ifndef RB_ACTIVATION_H
#define RB_ACTIVATION_H

#include "base/rb_base.h"

/* The span in an OpenTelemetry::Context, or nil. Only after
 * Native.activation_follow. */
VALUE rb_sp_activation_span(VALUE context);

/* Defines Native.activation_follow. */
void rb_sp_activation_init(void);

#endif
