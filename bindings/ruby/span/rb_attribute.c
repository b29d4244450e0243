#include "rb_attribute.h"

#include <stdbool.h>

#include "base/rb_base.h"

/* The SDK's set_attribute locks a mutex and checks the length of all attributes
 * again. This would be a third of the cost of a profiled span. It is not needed
 * here, because no other thread uses a span while it is being created. So if
 * the span's limits truncate nothing and nobody has patched set_attribute, the
 * attributes are stored directly in the Hash in which the SDK (1.0 to 1.13,
 * trace/span.rb) stores them. Otherwise set_attribute is called. */

/* A span that already has this many attributes gets more only through
 * set_attribute. The number is far below the SDK's default limit. */
#define ATTRIBUTE_COUNT_SAFE 32

static ID attribute_attributes, attribute_recorded, attribute_limits,
    attribute_count_limit, attribute_length_limit, attribute_set;

/* The class of spans whose set_attribute is unpatched, or nil. */
static VALUE attribute_class = Qnil;

/* The limits of the last span, and whether they allow direct storage. All spans
 * of a tracer provider share one object with limits. */
static VALUE attribute_limits_seen = Qnil;
static bool attribute_limits_wide;

/* Returns whether the limits allow direct storage. May raise. */
static bool attribute_limits_are_wide(VALUE limits) {
  if (RB_NIL_P(limits))
    return false;
  if (limits != attribute_limits_seen) {
    VALUE count = rb_funcallv(limits, attribute_count_limit, 0, NULL);
    VALUE length = rb_funcallv(limits, attribute_length_limit, 0, NULL);

    attribute_limits_wide = RB_NIL_P(length) && RB_FIXNUM_P(count) &&
                            FIX2LONG(count) > ATTRIBUTE_COUNT_SAFE;
    attribute_limits_seen = limits;
  }
  return attribute_limits_wide;
}

void rb_sp_attributes_set(VALUE span, long count, const VALUE *pairs) {
  VALUE attributes = rb_attr_get(span, attribute_attributes);
  VALUE recorded = rb_attr_get(span, attribute_recorded);
  long i;

  if (RBASIC_CLASS(span) == attribute_class && RB_TYPE_P(attributes, T_HASH) &&
      !RB_OBJ_FROZEN(attributes) &&
      RHASH_SIZE(attributes) < ATTRIBUTE_COUNT_SAFE && RB_FIXNUM_P(recorded) &&
      attribute_limits_are_wide(rb_attr_get(span, attribute_limits))) {
    rb_hash_bulk_insert(2 * count, pairs, attributes);
    rb_ivar_set(span, attribute_recorded, LONG2NUM(FIX2LONG(recorded) + count));
  } else {
    for (i = 0; i < count; i++)
      rb_funcallv(span, attribute_set, 2, &pairs[2 * i]);
  }
}

/* Native.attributes_direct(span_class): store the attributes of spans of this
 * class directly; nil disables this. */
static VALUE attribute_direct(VALUE self, VALUE span_class) {
  (void)self;
  attribute_class = span_class;
  return Qnil;
}

void rb_sp_attribute_init(void) {
  attribute_attributes = rb_intern("@attributes");
  attribute_recorded = rb_intern("@total_recorded_attributes");
  attribute_limits = rb_intern("@span_limits");
  attribute_count_limit = rb_intern("attribute_count_limit");
  attribute_length_limit = rb_intern("attribute_length_limit");
  attribute_set = rb_intern("set_attribute");
  rb_gc_register_address(&attribute_limits_seen);
  rb_gc_register_address(&attribute_class);
  rb_define_module_function(rb_sp_native, "attributes_direct", attribute_direct,
                            1);
}
