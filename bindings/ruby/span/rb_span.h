/* Passes spans of OpenTelemetry's SDK to the core. The span processor reports
 * their start and end; rb_activation.c determines the active span from the
 * attached context. */
#ifndef RB_SPAN_H
#define RB_SPAN_H

#include "base/rb_base.h"

/* The core's data for a span of the SDK. An instance variable of the SDK's
 * span, which is invisible to Ruby code, owns the structure. As long as the
 * SDK's span is reachable, it can be attached and can be the parent of a new
 * span. Therefore the core retains its span until the garbage collector frees
 * the SDK's span, even after the span's end. */
typedef struct rb_sp_span {
  spanprof_span number;
  int retained;
  /* Serial of the scope in which the span ended, UINT64_MAX if it ended without
   * a scope, or 0 if it has not ended. */
  uint64_t ended_in;
  uint8_t trace_id[16];
  struct rb_sp_span *next_free;
} rb_sp_span;

/* Returns the data of an OpenTelemetry span, or NULL if the span processor has
 * not seen the span. */
rb_sp_span *rb_sp_span_of(VALUE span);

/* Defines Native::SpanHook, Native.span_rename and Native.resource_set. */
void rb_sp_span_init(void);

#endif
