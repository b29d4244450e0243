/* Which span is active: what OpenTelemetry::Context has attached to the
 * running fiber, told on to its scope. */
#ifndef RB_ACTIVATION_H
#define RB_ACTIVATION_H

#include "rb_spanprof.h"

/* The span in an OpenTelemetry::Context, or nil. Only after
 * Native.activation_follow. */
VALUE rb_sp_activation_span(VALUE context);

/* Watch what is attached, from now on; or no more, at no cost. Called by
 * rb_context.c. */
void rb_sp_activation_hook(bool on);

#endif
