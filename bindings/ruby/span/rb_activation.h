/* Which span is active: what OpenTelemetry::Context has attached to the
 * running fiber, told on to its scope. */
#ifndef RB_ACTIVATION_H
#define RB_ACTIVATION_H

#include "rb_spanprof.h"

/* The span in an OpenTelemetry::Context, or nil. Only after
 * Native.activation_follow. */
VALUE rb_sp_activation_span(VALUE context);

/* Put the methods that watch what is attached in their places; or take them
 * away, so that they cost nothing. Within rb_sp_guard(), which rb_follow.c
 * has. */
void rb_sp_activation_hook(bool on);

/* Have what is attached to the running fiber active, as its next attach would.
 */
void rb_sp_activation_show(void);

#endif
