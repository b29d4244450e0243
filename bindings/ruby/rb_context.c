#include "rb_context.h"

#include <ruby/debug.h>

#include <string.h>

/* Flows come from slabs that are never given back, so that a stale pointer to
 * one finds another serial and not foreign memory. */
#define FLOW_SLAB 64

/* Fibers that are known to have no flow. A power of two. */
#define FLOW_BARE 256u

/* Enumerators that call each other, at most. */
#define FLOW_CALLERS_MAX 64

/* Where a fiber's flow stands: its holder, in a fiber-local variable, which is
 * found in half the time of an instance variable. Rails
 * (ActionController::Live) and GraphQL copy fiber-locals to other fibers, so a
 * flow says whose it is. */
static ID flow_local;

/* An instance variable, out of Ruby code's sight, of a fiber or thread that
 * Ruby code made and that has not started: true, or the holder of its flow. */
static ID flow_made;

/* The methods of Enumerator that resume its fiber. */
static ID flow_next, flow_next_values, flow_peek, flow_peek_values;

static rb_sp_flow *flow_free;
static uint64_t flow_serials;
static bool flow_followed;

/* Of a fiber that was found to have none since it started, by its address. One
 * that starts where such a one was has no frame yet, and is looked at anew. */
static VALUE flow_bare[FLOW_BARE];

/* Do new fibers and threads start with what their maker works for? */
static bool flow_inherits;
static bool flow_hooks_threads;

/* Initial-exec, as in the core and with its bound (tls.h): at each switch of
 * fibers this is a load and not a call. musl refuses it in a library that is
 * loaded late. */
#if defined(__GLIBC__)
#define FLOW_TLS __attribute__((tls_model("initial-exec")))
#else
#define FLOW_TLS
#endif

/* Of the fiber that runs, or ran before the switch that is being told of;
 * NULL: it has none. A thread's: fibers do not move between threads. */
static _Thread_local struct {
  rb_sp_flow *flow;
  uint64_t serial;
} flow_running FLOW_TLS;

static VALUE *bare_slot(VALUE fiber) {
  return &flow_bare[fiber / sizeof(struct RBasic) * UINT32_C(2654435761) >> 8 &
                    (FLOW_BARE - 1)];
}

static void bare_forget(VALUE fiber) {
  VALUE *slot = bare_slot(fiber);

  if (*slot == fiber)
    *slot = 0;
}

static void flow_holder_mark(void *data) {
  const rb_sp_flow *flow = data;

  if (flow->fiber)
    rb_gc_mark_movable(flow->fiber);
}

static void flow_holder_move(void *data) {
  rb_sp_flow *flow = data;

  if (!flow->fiber)
    return;
  flow->fiber = rb_gc_location(flow->fiber);
  bare_forget(flow->fiber);
}

static void flow_holder_free(void *data) {
  rb_sp_flow *flow = data;

  spanprof_context_free(flow->context);
  memset(flow, 0, sizeof *flow);
  flow->next_free = flow_free;
  flow_free = flow;
}

static size_t flow_holder_size(const void *data) {
  (void)data;
  return sizeof(rb_sp_flow);
}

static const rb_data_type_t flow_holder = {
    .wrap_struct_name = "spanprof flow",
    .function = {.dmark = flow_holder_mark,
                 .dfree = flow_holder_free,
                 .dsize = flow_holder_size,
                 .dcompact = flow_holder_move},
    .flags = RUBY_TYPED_FREE_IMMEDIATELY | RUBY_TYPED_WB_PROTECTED,
};

static rb_sp_flow *flow_take(void) {
  rb_sp_flow *flow = flow_free;
  size_t i;

  if (!flow) {
    flow = ruby_xcalloc(FLOW_SLAB, sizeof *flow);
    for (i = 0; i < FLOW_SLAB; i++) {
      flow[i].next_free = flow_free;
      flow_free = &flow[i];
    }
    flow = flow_free;
  }
  flow_free = flow->next_free;
  flow->next_free = NULL;
  flow->serial = ++flow_serials;
  return flow;
}

/* The flow of `fiber`, which runs, or NULL. */
static rb_sp_flow *flow_of(VALUE fiber) {
  rb_sp_flow *flow = flow_running.flow;
  VALUE held;

  /* A flow that was freed is nobody's. */
  if (flow && flow->fiber == fiber)
    return flow;
  held = rb_thread_local_aref(rb_thread_current(), flow_local);
  if (RB_NIL_P(held))
    return NULL;
  flow = RTYPEDDATA_DATA(held);
  return flow->fiber == fiber ? flow : NULL;
}

/* Make the flow behind `held` that of `fiber`, which runs. */
static rb_sp_flow *flow_adopt(VALUE held, VALUE fiber) {
  rb_sp_flow *flow = RTYPEDDATA_DATA(held);

  RB_OBJ_WRITE(held, &flow->fiber, fiber);
  bare_forget(fiber);
  rb_thread_local_aset(rb_thread_current(), flow_local, held);
  return flow;
}

static rb_sp_flow *flow_new(VALUE fiber) {
  VALUE held = TypedData_Wrap_Struct(0, &flow_holder, flow_take());

  return flow_adopt(held, fiber);
}

/* What a fiber or thread that is being made starts with: see flow_made. */
static VALUE flow_inheritance(void) {
  spanprof_span span = flow_inherits ? spanprof_span_active() : 0;
  spanprof_label_set labels = flow_inherits ? spanprof_labels_get() : 0;
  rb_sp_flow *flow;

  if (!span && !labels)
    return Qtrue;
  flow = flow_take();
  flow->inherited = span;
  flow->labels = labels;
  return TypedData_Wrap_Struct(0, &flow_holder, flow);
}

/* Whoever `flow` takes over from what it has none of itself: the nearest of its
 * callers that has it, or the outermost. */
static const rb_sp_flow *flow_caller(const rb_sp_flow *flow, bool for_span) {
  size_t i;

  for (i = 0; i < FLOW_CALLERS_MAX; i++) {
    if (!flow->called || (for_span ? flow->span != 0 : flow->labels != 0))
      return flow;
    if (!flow->caller || flow->caller->serial != flow->caller_serial)
      return NULL;
    flow = flow->caller;
  }
  return NULL;
}

static spanprof_span flow_span_of(const rb_sp_flow *flow) {
  if (!flow)
    return 0;
  return flow->span ? flow->span : flow->inherited;
}

/* Make the thread's context that of `flow`, with these in it. Without memory
 * the thread works for nothing. */
static void flow_show(rb_sp_flow *flow, spanprof_span span,
                      spanprof_label_set labels) {
  if (!flow->context && ((!span && !labels) ||
                         spanprof_context_new(&flow->context) != SPANPROF_OK)) {
    spanprof_context_switch(NULL);
    return;
  }
  spanprof_context_switch(flow->context);
  if (flow->shown != span) {
    spanprof_span_leave(flow->shown_token);
    flow->shown_token = 0;
    flow->shown = 0;
    if (span && spanprof_span_enter(span, &flow->shown_token) == SPANPROF_OK)
      flow->shown = span;
  }
  if (spanprof_labels_get() != labels)
    spanprof_labels_set(labels);
}

/* An enumerator's fiber that runs: with nothing of its own it is in its
 * caller's context, else its own shows what it lacks from there. */
static void flow_show_callee(rb_sp_flow *flow) {
  const rb_sp_flow *span_of = flow_caller(flow, true);
  const rb_sp_flow *labels_of = flow_caller(flow, false);

  if (!flow->span && !flow->labels && span_of == labels_of)
    spanprof_context_switch(span_of ? span_of->context : NULL);
  else
    flow_show(flow, flow_span_of(span_of), labels_of ? labels_of->labels : 0);
}

static void flow_run(rb_sp_flow *flow) {
  flow_running.flow = flow;
  flow_running.serial = flow ? flow->serial : 0;
  if (!flow)
    spanprof_context_switch(NULL);
  else if (flow->called)
    flow_show_callee(flow);
  else
    flow_show(flow, flow_span_of(flow), flow->labels);
}

/* Has the call of `from`, an enumerator's, returned with the switch to `to`?
 * Its caller runs in no other way meanwhile: Ruby resumes no resuming fiber. A
 * caller without a flow is told from another such fiber, a scheduler's say, by
 * the method that it is in. */
static bool flow_call_returned(const rb_sp_flow *from, const rb_sp_flow *to) {
  ID method;

  if (from->caller)
    return to == from->caller;
  if (to)
    return false;
  method = rb_frame_this_func();
  return method == flow_next || method == flow_next_values ||
         method == flow_peek || method == flow_peek_values;
}

/* The flow of a fiber that starts, if it is to have one. Only Ruby's own
 * enumerators make fibers without Fiber.new (rb_fiber_new() in enumerator.c).
 */
static rb_sp_flow *flow_begin(VALUE fiber) {
  VALUE made = rb_attr_get(fiber, flow_made);
  rb_sp_flow *flow;

  if (made == Qtrue)
    return NULL;
  if (!RB_NIL_P(made))
    return flow_adopt(made, fiber);
  flow = flow_new(fiber);
  flow->callee = true;
  return flow;
}

/* The flow of the fiber that was switched to, or NULL. One that starts has no
 * frame. */
static rb_sp_flow *flow_arrive(VALUE fiber) {
  VALUE *bare = bare_slot(fiber);
  bool runs = rb_frame_this_func() != 0;
  rb_sp_flow *flow;

  if (runs && *bare == fiber)
    return NULL;
  flow = flow_of(fiber);
  if (!flow && !runs)
    flow = flow_begin(fiber);
  if (!flow)
    *bare = fiber;
  return flow;
}

/* Runs on the fiber that was switched to. An exception that arrives with the
 * switch (Thread#raise, Timeout) is raised before it, and skips it: what then
 * shows stays until the next switch, attach or detach. */
static void flow_switched(rb_event_flag_t event, VALUE data, VALUE self, ID id,
                          VALUE klass) {
  rb_sp_flow *from = flow_running.flow;
  rb_sp_flow *to = flow_arrive(rb_fiber_current());

  (void)event, (void)data, (void)self, (void)id, (void)klass;
  if (from && from->serial != flow_running.serial)
    from = NULL;
  /* The thread's own context shows, and goes on showing. */
  if (!to && !flow_running.flow)
    return;
  if (from && from->called && flow_call_returned(from, to))
    from->called = false;
  if (to && to->callee && !to->called) {
    to->called = true;
    to->caller = from;
    to->caller_serial = from ? from->serial : 0;
  }
  flow_run(to);
}

/* Native threads are used again for other threads. */
static void flow_thread_begins(rb_event_flag_t event, VALUE data, VALUE self,
                               ID id, VALUE klass) {
  VALUE made = rb_attr_get(rb_thread_current(), flow_made);

  (void)event, (void)data, (void)self, (void)id, (void)klass;
  flow_run(RB_SPECIAL_CONST_P(made) ? NULL
                                    : flow_adopt(made, rb_fiber_current()));
}

static VALUE flow_fiber_initialize(int argc, VALUE *argv, VALUE fiber) {
  int keywords = rb_keyword_given_p();

  rb_ivar_set(fiber, flow_made, flow_inheritance());
  return rb_call_super_kw(argc, argv, keywords);
}

static VALUE flow_thread_initialize(int argc, VALUE *argv, VALUE thread) {
  int keywords = rb_keyword_given_p();

  if (flow_inherits)
    rb_ivar_set(thread, flow_made, flow_inheritance());
  return rb_call_super_kw(argc, argv, keywords);
}

/* Native.flows_inherit(on) */
static VALUE flow_inherit(VALUE self, VALUE on) {
  VALUE hook;

  (void)self;
  rb_sp_context_follow();
  if (RTEST(on) && !flow_hooks_threads) {
    hook = rb_define_module_under(rb_sp_native, "ThreadHook");
    rb_define_private_method(hook, "initialize", flow_thread_initialize, -1);
    rb_prepend_module(rb_cThread, hook);
    flow_hooks_threads = true;
  }
  flow_inherits = RTEST(on);
  return Qnil;
}

void rb_sp_context_follow(void) {
  VALUE hook;

  if (flow_followed)
    return;
  flow_followed = true;
  hook = rb_define_module_under(rb_sp_native, "FiberHook");
  rb_define_private_method(hook, "initialize", flow_fiber_initialize, -1);
  rb_prepend_module(rb_const_get(rb_cObject, rb_intern("Fiber")), hook);
  rb_add_event_hook(flow_switched, RUBY_EVENT_FIBER_SWITCH, Qnil);
  rb_add_event_hook(flow_thread_begins, RUBY_EVENT_THREAD_BEGIN, Qnil);
}

rb_sp_flow *rb_sp_flow_current(void) {
  return flow_of(rb_fiber_current());
}

rb_sp_flow *rb_sp_flow_make(void) {
  VALUE fiber = rb_fiber_current();
  rb_sp_flow *flow = flow_of(fiber);

  return flow ? flow : flow_new(fiber);
}

void rb_sp_flow_span_set(rb_sp_flow *flow, const rb_sp_span *held) {
  flow->span = held ? held->number : 0;
  if (held)
    memcpy(flow->trace_id, held->trace_id, sizeof flow->trace_id);
  flow_run(flow);
}

spanprof_status rb_sp_flow_labels_begin(rb_sp_flow *flow) {
  if (!flow->context) {
    spanprof_status st = spanprof_context_new(&flow->context);

    if (st)
      return st;
  }
  flow_run(flow);
  /* An enumerator's fiber may be in its caller's. */
  if (flow->called && !flow->span && !flow->labels)
    flow_show(flow, flow_span_of(flow_caller(flow, true)),
              spanprof_labels_get());
  return SPANPROF_OK;
}

void rb_sp_flow_labels_set(rb_sp_flow *flow, spanprof_label_set labels) {
  flow->labels = labels;
  flow_run(flow);
}

void rb_sp_context_init(void) {
  flow_local = rb_intern("spanprof_flow");
  flow_made = rb_intern("spanprof made");
  rb_define_module_function(rb_sp_native, "flows_inherit", flow_inherit, 1);
  flow_next = rb_intern("next");
  flow_next_values = rb_intern("next_values");
  flow_peek = rb_intern("peek");
  flow_peek_values = rb_intern("peek_values");
}
