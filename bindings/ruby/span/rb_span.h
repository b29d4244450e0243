/* Spans of OpenTelemetry's SDK in the core. The span processor reports their
 * start and end; rb_activation.h determines the active span from the attached
 * context. */
#ifndef RB_SPAN_H
#define RB_SPAN_H

#include "base/rb_base.h"

/* Belongs to a span of the SDK, in an instance variable that is invisible to
 * Ruby code. While the SDK's span is reachable, it can be attached and be the
 * parent of a new span. Therefore the core retains it until then, even after
 * its end. */
typedef struct rb_sp_span {
  spanprof_span number;
  int retained;
  uint64_t ended_in; /* serial of the scope in which it ended; 0 if it has not
                        ended */
  uint8_t trace_id[16];
  struct rb_sp_span *next_free;
} rb_sp_span;

/* The data of an OpenTelemetry span, or NULL if the processor has not seen it.
 */
rb_sp_span *rb_sp_span_of(VALUE span);

/* Defines Native::SpanHook, Native.span_rename and resource_set. */
void rb_sp_span_init(void);

#endif
