/* Which span is active: what OpenTelemetry::Context has attached to the
 * running fiber, told on to its flow. */
#ifndef RB_ACTIVATION_H
#define RB_ACTIVATION_H

#include "rb_spanprof.h"

/* The span in an OpenTelemetry::Context, or nil. Only after
 * Native.activation_follow. May raise where the context is of a class of its
 * own. */
VALUE rb_sp_activation_span(VALUE context);

#endif
