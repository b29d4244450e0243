/* The core's span rules as a Ruby object. */
#ifndef RB_SPAN_RULES_H
#define RB_SPAN_RULES_H

#include "base/rb_base.h"

typedef struct rb_sp_span_rules {
  spanprof_span_rules *rules; /* NULL: default rules */
  /* A bit 1 << spanprof_span_attribute for each attribute that may be set. */
  unsigned attributes;
} rb_sp_span_rules;

/* Raises TypeError if `value` is not a Native::SpanRules. */
const rb_sp_span_rules *rb_sp_span_rules_get(VALUE value);

/* Defines Native::SpanRules. */
void rb_sp_span_rules_init(void);

#endif
