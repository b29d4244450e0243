#include "rb_span.h"

#include "rb_activation.h"
#include "rb_attribute.h"
#include "rb_context.h"
#include "rb_span_rules.h"
#include "rb_text.h"

#include <string.h>

/* Bytes of a URL that need no second call: that of a span named with 60
 * characters, baseline and all, is shorter. */
#define SPAN_URL_BYTES 1024

static ID span_ivar;
static ID span_context, span_name, span_parent_span_id, span_trace_id,
    span_span_id, span_trace_flags, span_sampled, span_remote;
static VALUE span_keys[4];

/* The trace flags seen last, and whether they say "sampled". */
static VALUE span_flags = Qnil;
static bool span_flags_sampled;

static void span_holder_free(void *data) {
  rb_sp_span *held = data;

  if (!held->ended_in)
    spanprof_span_end(held->number);
  if (held->retained)
    spanprof_span_release(held->number);
  xfree(held);
}

static size_t span_holder_size(const void *data) {
  (void)data;
  return sizeof(rb_sp_span);
}

static const rb_data_type_t span_holder = {
    .wrap_struct_name = "spanprof span",
    .function = {.dfree = span_holder_free, .dsize = span_holder_size},
    .flags = RUBY_TYPED_FREE_IMMEDIATELY | RUBY_TYPED_WB_PROTECTED,
};

rb_sp_span *rb_sp_span_of(VALUE span) {
  VALUE held;

  if (RB_SPECIAL_CONST_P(span))
    return NULL;
  held = rb_attr_get(span, span_ivar);
  return RB_NIL_P(held) ? NULL : RTYPEDDATA_DATA(held);
}

/* Copy an id of exactly `size` bytes; what is none counts as all zero. */
static void span_id_copy(VALUE id, uint8_t *out, size_t size) {
  if (RB_TYPE_P(id, T_STRING) && (size_t)RSTRING_LEN(id) == size)
    memcpy(out, RSTRING_PTR(id), size);
}

/* Trace flags are constants of the API's, nearly always; asking them is a
 * method of Ruby's. */
static bool span_is_sampled(VALUE flags) {
  if (flags != span_flags) {
    span_flags_sampled = RTEST(rb_funcallv(flags, span_sampled, 0, NULL));
    span_flags = flags;
  }
  return span_flags_sampled;
}

static bool span_parent_is_remote(VALUE parent_context) {
  VALUE parent = rb_sp_activation_span(parent_context);
  VALUE context;

  if (NIL_P(parent) || rb_sp_span_of(parent))
    return false;
  context = rb_funcallv(parent, span_context, 0, NULL);
  return RTEST(rb_funcallv(context, span_remote, 0, NULL));
}

static void span_attribute_set(const spanprof_span_rules *rules, VALUE span,
                               spanprof_span number,
                               spanprof_span_attribute attribute) {
  char buffer[SPAN_URL_BYTES];
  VALUE value = Qnil;
  size_t length;
  spanprof_status st = spanprof_span_attribute_get(
      rules, number, attribute, buffer, sizeof buffer, &length);

  if (st == SPANPROF_ERR_LIMIT) {
    VALUE text = rb_utf8_str_new(NULL, (long)length);
    size_t size = length + 1; /* Ruby keeps room for the NUL */

    st = spanprof_span_attribute_get(rules, number, attribute,
                                     RSTRING_PTR(text), size, &length);
    value = text;
  } else if (st == SPANPROF_OK && length) {
    value = rb_utf8_str_new(buffer, (long)length);
  }
  if (st == SPANPROF_OK && length)
    rb_sp_attribute_set(span, span_keys[attribute], value);
}

/* Native.span_start(rules, span, parent_context): may raise. */
static VALUE span_start(VALUE self, VALUE rules_value, VALUE span,
                        VALUE parent_context) {
  const rb_sp_span_rules *rules = rb_sp_span_rules_get(rules_value);
  VALUE context = rb_funcallv(span, span_context, 0, NULL);
  VALUE name = rb_sp_text(rb_funcallv(span, span_name, 0, NULL));
  spanprof_span_info info = {.struct_size = sizeof info};
  unsigned attribute;
  rb_sp_span *held;
  VALUE holder;

  (void)self;
  span_id_copy(rb_funcallv(context, span_trace_id, 0, NULL), info.trace_id,
               sizeof info.trace_id);
  span_id_copy(rb_funcallv(context, span_span_id, 0, NULL), info.span_id,
               sizeof info.span_id);
  span_id_copy(rb_funcallv(span, span_parent_span_id, 0, NULL), info.parent_id,
               sizeof info.parent_id);
  if (span_is_sampled(rb_funcallv(context, span_trace_flags, 0, NULL)))
    info.flags |= SPANPROF_SPAN_SAMPLED;
  if (memcmp(info.parent_id, (uint8_t[8]){0}, sizeof info.parent_id) != 0 &&
      span_parent_is_remote(parent_context))
    info.flags |= SPANPROF_SPAN_PARENT_REMOTE;
  /* rb_check_frozen() would inspect it for its message. */
  if (RB_OBJ_FROZEN(span))
    rb_raise(rb_eFrozenError, "it is frozen");
  info.name = RSTRING_PTR(name);
  info.name_bytes = (size_t)RSTRING_LEN(name);
  holder = TypedData_Make_Struct(0, rb_sp_span, &span_holder, held);
  rb_sp_check(spanprof_span_start(rules->rules, &info, &held->number));
  held->retained = spanprof_span_retain(held->number);
  memcpy(held->trace_id, info.trace_id, sizeof held->trace_id);
  rb_ivar_set(span, span_ivar, holder);
  RB_GC_GUARD(name);
  for (attribute = 0; attribute < 4; attribute++)
    if (rules->attributes & 1u << attribute)
      span_attribute_set(rules->rules, span, held->number, attribute);
  return Qnil;
}

/* Native.span_rename(span): its name, as it is now. May raise. */
static VALUE span_rename(VALUE self, VALUE span) {
  const rb_sp_span *held = rb_sp_span_of(span);
  VALUE name;

  (void)self;
  if (!held)
    return Qnil;
  name = rb_sp_text(rb_funcallv(span, span_name, 0, NULL));
  spanprof_span_rename(held->number, RSTRING_PTR(name),
                       (size_t)RSTRING_LEN(name));
  RB_GC_GUARD(name);
  return Qnil;
}

/* Native.span_end(span) */
static VALUE span_end(VALUE self, VALUE span) {
  rb_sp_span *held = rb_sp_span_of(span);
  rb_sp_flow *flow;

  (void)self;
  if (!held)
    return Qnil;
  flow = rb_sp_flow_current();
  held->ended_in = flow ? flow->serial : UINT64_MAX;
  /* What is left attached is not worked for any more. */
  if (flow && flow->span == held->number)
    rb_sp_flow_span_set(flow, 0, NULL);
  spanprof_span_end(held->number);
  return Qnil;
}

void rb_sp_span_init(void) {
  static const spanprof_span_attribute attributes[] = {
      SPANPROF_ATTRIBUTE_PROFILE_ID, SPANPROF_ATTRIBUTE_URL,
      SPANPROF_ATTRIBUTE_BASELINE_URL, SPANPROF_ATTRIBUTE_DIFF_URL};
  size_t i;

  span_ivar = rb_intern("spanprof span");
  span_context = rb_intern("context");
  span_name = rb_intern("name");
  span_parent_span_id = rb_intern("parent_span_id");
  span_trace_id = rb_intern("trace_id");
  span_span_id = rb_intern("span_id");
  span_trace_flags = rb_intern("trace_flags");
  span_sampled = rb_intern("sampled?");
  span_remote = rb_intern("remote?");
  rb_gc_register_address(&span_flags);
  for (i = 0; i < sizeof attributes / sizeof attributes[0]; i++) {
    span_keys[i] = rb_str_to_interned_str(
        rb_utf8_str_new_cstr(spanprof_span_attribute_key(attributes[i])));
    rb_gc_register_mark_object(span_keys[i]);
  }
  rb_define_module_function(rb_sp_native, "span_start", span_start, 3);
  rb_define_module_function(rb_sp_native, "span_rename", span_rename, 1);
  rb_define_module_function(rb_sp_native, "span_end", span_end, 1);
}
