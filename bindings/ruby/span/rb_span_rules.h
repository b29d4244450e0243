/* The core's rules of spans, as an object of Ruby's. */
#ifndef RB_SPAN_RULES_H
#define RB_SPAN_RULES_H

#include "base/rb_base.h"

typedef struct rb_sp_span_rules {
  spanprof_span_rules *rules; /* NULL: the defaults */
  unsigned attributes; /* 1 << spanprof_span_attribute, those that may be set */
} rb_sp_span_rules;

/* Raises TypeError where `value` is no Native::SpanRules. */
const rb_sp_span_rules *rb_sp_span_rules_get(VALUE value);

/* Defines Native::SpanRules. */
void rb_sp_span_rules_init(void);

#endif
