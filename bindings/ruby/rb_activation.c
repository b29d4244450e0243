#include "rb_activation.h"

#include "rb_context.h"
#include "rb_span.h"

#include <string.h>

static ID activation_entries, activation_value, activation_stack,
    activation_context, activation_trace_id, activation_remote;

/* OpenTelemetry::Context, and the key under which a context has its span. */
static VALUE activation_class = Qnil;
static VALUE activation_key = Qnil;

VALUE rb_sp_activation_span(VALUE context) {
  VALUE entries;

  if (RB_SPECIAL_CONST_P(context))
    return Qnil;
  entries = rb_attr_get(context, activation_entries);
  if (RB_TYPE_P(entries, T_HASH))
    return rb_hash_lookup(entries, activation_key);
  return rb_funcallv(context, activation_value, 1, &activation_key);
}

/* The trace a span that is not ours goes on with in this process; nil: none.
 * May raise. */
static VALUE activation_local_trace(VALUE span) {
  VALUE context = rb_funcallv(span, activation_context, 0, NULL);
  VALUE id;

  if (RTEST(rb_funcallv(context, activation_remote, 0, NULL)))
    return Qnil;
  id = rb_funcallv(context, activation_trace_id, 0, NULL);
  return RB_TYPE_P(id, T_STRING) && RSTRING_LEN(id) == 16 ? id : Qnil;
}

static bool activation_in_trace(const uint8_t *trace_id, VALUE trace) {
  return memcmp(trace_id, RSTRING_PTR(trace), 16) == 0;
}

/* Attached, over what the flow works for, is a span that the processor was not
 * told of: one that is not recorded, or that wraps another's context. In the
 * same trace it stands for a part of the span around it. */
static VALUE activation_attached_other(VALUE span) {
  rb_sp_flow *flow = rb_sp_flow_current();
  VALUE trace;

  if (!flow || !flow->span)
    return Qnil;
  trace = activation_local_trace(span);
  if (NIL_P(trace) || !activation_in_trace(flow->trace_id, trace))
    rb_sp_flow_span_set(flow, 0, NULL);
  return Qnil;
}

/* The same where a detach brought it to light: what is around it is further
 * down the stack. */
static VALUE activation_exposed_other(VALUE span) {
  VALUE trace = activation_local_trace(span);
  VALUE stack = rb_funcallv(activation_class, activation_stack, 0, NULL);
  const rb_sp_span *held = NULL;
  rb_sp_flow *flow;
  long i;

  if (!NIL_P(trace) && RB_TYPE_P(stack, T_ARRAY))
    for (i = RARRAY_LEN(stack) - 1; i >= 0 && !held; i--) {
      held = rb_sp_span_of(rb_sp_activation_span(RARRAY_AREF(stack, i)));
      if (held && !activation_in_trace(held->trace_id, trace))
        held = NULL;
    }
  flow = held ? rb_sp_flow_make() : rb_sp_flow_current();
  if (flow)
    rb_sp_flow_span_set(flow, held ? held->number : 0,
                        held ? held->trace_id : NULL);
  return Qnil;
}

/* Whatever it raises is no concern of who attaches. */
static void activation_other(VALUE (*step)(VALUE), VALUE span) {
  VALUE error = rb_errinfo();
  int state;

  rb_protect(step, span, &state);
  if (state)
    rb_set_errinfo(error);
}

static void activation_set(const rb_sp_span *held) {
  rb_sp_flow *flow = held ? rb_sp_flow_make() : rb_sp_flow_current();

  if (flow)
    rb_sp_flow_span_set(flow, held ? held->number : 0,
                        held ? held->trace_id : NULL);
}

/* Native.context_attached(context): it is on top of the fiber's stack now. */
static VALUE activation_attached(VALUE self, VALUE context) {
  VALUE span = rb_sp_activation_span(context);
  const rb_sp_span *held = rb_sp_span_of(span);

  (void)self;
  if (held || NIL_P(span))
    activation_set(held);
  else
    activation_other(activation_attached_other, span);
  return Qnil;
}

/* Native.context_exposed(context): so it is after a detach. A span that ended
 * here is one that was left attached, and not worked for. */
static VALUE activation_exposed(VALUE self, VALUE context) {
  VALUE span = rb_sp_activation_span(context);
  const rb_sp_span *held = rb_sp_span_of(span);
  rb_sp_flow *flow;

  (void)self;
  if (held && held->ended_in) {
    flow = rb_sp_flow_current();
    if (!flow || flow->serial == held->ended_in)
      held = NULL;
    activation_set(held);
  } else if (held || NIL_P(span)) {
    activation_set(held);
  } else {
    activation_other(activation_exposed_other, span);
  }
  return Qnil;
}

static VALUE activation_follow(VALUE self, VALUE context_class, VALUE key) {
  (void)self;
  activation_class = context_class;
  activation_key = key;
  rb_sp_context_follow();
  return Qnil;
}

void rb_sp_activation_init(void) {
  activation_entries = rb_intern("@entries");
  activation_value = rb_intern("value");
  activation_stack = rb_intern("stack");
  activation_context = rb_intern("context");
  activation_trace_id = rb_intern("trace_id");
  activation_remote = rb_intern("remote?");
  rb_gc_register_address(&activation_class);
  rb_gc_register_address(&activation_key);
  rb_define_module_function(rb_sp_native, "activation_follow",
                            activation_follow, 2);
  rb_define_module_function(rb_sp_native, "context_attached",
                            activation_attached, 1);
  rb_define_module_function(rb_sp_native, "context_exposed", activation_exposed,
                            1);
}
