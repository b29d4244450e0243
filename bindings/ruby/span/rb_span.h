/* Spans of OpenTelemetry's SDK, as the core knows them. The processor tells of
 * starts and ends; what the running fiber works for follows from what is
 * attached to it. */
#ifndef RB_SPAN_H
#define RB_SPAN_H

#include "base/rb_base.h"

/* Stands behind a span of the SDK, in an instance variable Ruby code cannot
 * see. As long as the SDK's span can be reached, it can be attached, and a span
 * be started in it: so the core knows it until then, ended or not. */
typedef struct rb_sp_span {
  spanprof_span number;
  int retained;
  uint64_t ended_in; /* serial of the scope it ended in; 0: it has not */
  uint8_t trace_id[16];
  struct rb_sp_span *next_free;
} rb_sp_span;

/* Ours behind an OpenTelemetry span, or NULL. */
rb_sp_span *rb_sp_span_of(VALUE span);

/* Defines Native::SpanHook, Native.span_rename and resource_set. */
void rb_sp_span_init(void);

#endif
