#include "rb_context.h"

#include "rb_activation.h"

#include <ruby/debug.h>

#include <string.h>

/* Flows come from slabs that are never given back, so that a stale pointer to
 * one finds another serial and not foreign memory. */
#define FLOW_SLAB 64

/* Fibers whose flow is known without a look. A power of two. */
#define FLOW_SEEN 256u

/* Enumerators that call each other, at most. */
#define FLOW_CALLERS_MAX 64

/* An instance variable, out of Ruby code's sight, of a fiber: the holder of its
 * flow, or true where Ruby code made it and it has none. A thread that Ruby
 * code made has it too, for its first fiber. A copy of a fiber has the variable
 * as well, so a flow says whose it is. */
static ID flow_held;

/* The methods of Enumerator that resume its fiber. */
static ID flow_next, flow_next_values, flow_peek, flow_peek_values;

static VALUE flow_class;
static rb_sp_flow *flow_free;
static uint64_t flow_serials;

/* Every flow there is, free or not. */
static struct flow_slab {
  struct flow_slab *next;
  rb_sp_flow flows[FLOW_SLAB];
} * flow_slabs;

/* Native::FiberHook, which has its method while flows are followed: that is
 * while the process is profiled and somebody wants it. */
static VALUE flow_fiber_hook;
static bool flow_wanted, flow_profiled, flow_followed;

/* Of a thread whose flow_running is of this turn it is known that it is the
 * main Ractor's. */
static uint32_t flow_turn;

/* By a fiber's address, its flow, or NULL: since it started it was found to
 * have none. A fiber that starts where such a one was has no frame yet, and is
 * looked at anew; a flow of another fiber, or of none, is no flow of this
 * one's. */
static struct {
  VALUE fiber;
  rb_sp_flow *flow;
} flow_seen[FLOW_SEEN];

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
  uint32_t turn; /* see flow_turn */
} flow_running FLOW_TLS;

static size_t seen_slot(VALUE fiber) {
  return fiber / sizeof(struct RBasic) * UINT32_C(2654435761) >> 8 &
         (FLOW_SEEN - 1);
}

static void seen_set(VALUE fiber, rb_sp_flow *flow) {
  const size_t slot = seen_slot(fiber);

  flow_seen[slot].fiber = fiber;
  flow_seen[slot].flow = flow;
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
  seen_set(flow->fiber, flow);
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
    struct flow_slab *slab = ruby_xcalloc(1, sizeof *slab);

    slab->next = flow_slabs;
    flow_slabs = slab;
    for (i = 0; i < FLOW_SLAB; i++) {
      slab->flows[i].next_free = flow_free;
      flow_free = &slab->flows[i];
    }
    flow = flow_free;
  }
  flow_free = flow->next_free;
  flow->next_free = NULL;
  flow->serial = ++flow_serials;
  return flow;
}

/* A holder without a class would end the VM when a method is called on it, and
 * whatever lists instance variables in C (Marshal) may do so. */
static VALUE flow_hold(void) {
  return TypedData_Wrap_Struct(flow_class, &flow_holder, flow_take());
}

/* The flow of `fiber`, which runs, or NULL. */
static rb_sp_flow *flow_of(VALUE fiber) {
  rb_sp_flow *flow = flow_running.flow;
  VALUE held;

  /* A flow that was freed is nobody's. */
  if (flow && flow->fiber == fiber)
    return flow;
  flow = flow_seen[seen_slot(fiber)].flow;
  if (flow && flow->fiber == fiber)
    return flow;
  held = rb_attr_get(fiber, flow_held);
  if (RB_SPECIAL_CONST_P(held))
    return NULL;
  flow = RTYPEDDATA_DATA(held);
  return flow->fiber == fiber ? flow : NULL;
}

/* Make the flow behind `held` that of `fiber`, which runs. */
static rb_sp_flow *flow_adopt(VALUE held, VALUE fiber) {
  rb_sp_flow *flow = RTYPEDDATA_DATA(held);

  RB_OBJ_WRITE(held, &flow->fiber, fiber);
  rb_ivar_set(fiber, flow_held, held);
  seen_set(fiber, flow);
  return flow;
}

static rb_sp_flow *flow_new(VALUE fiber) {
  return flow_adopt(flow_hold(), fiber);
}

/* What a fiber or thread that is being made starts with: see flow_held. */
static VALUE flow_inheritance(void) {
  spanprof_span span = flow_inherits ? spanprof_span_active() : 0;
  spanprof_label_set labels = flow_inherits ? spanprof_labels_get() : 0;
  rb_sp_flow *flow;
  VALUE held;

  if (!span && !labels)
    return Qtrue;
  held = flow_hold();
  flow = RTYPEDDATA_DATA(held);
  flow->inherited = span;
  flow->labels = labels;
  return held;
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
  if (!flow_followed)
    return;
  flow_running.turn = flow_turn;
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
  VALUE made = rb_attr_get(fiber, flow_held);
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
  const size_t slot = seen_slot(fiber);
  rb_sp_flow *flow = flow_seen[slot].flow;
  bool runs;

  if (flow && flow->fiber == fiber)
    return flow;
  runs = rb_frame_this_func() != 0;
  if (runs && !flow && flow_seen[slot].fiber == fiber)
    return NULL;
  flow = flow_of(fiber);
  if (!flow && !runs)
    flow = flow_begin(fiber);
  seen_set(fiber, flow);
  return flow;
}

/* A thread of another Ractor runs beside this one's, and has no flows. */
static bool flow_here(void) {
  if (flow_running.turn == flow_turn)
    return true;
  if (!rb_sp_ractor_is_main())
    return false;
  flow_running.turn = flow_turn;
  return true;
}

/* Runs on the fiber that was switched to. An exception that arrives with the
 * switch (Thread#raise, Timeout) is raised before it, and skips it: what then
 * shows stays until the next switch, attach or detach. */
static void flow_switched(rb_event_flag_t event, VALUE data, VALUE self, ID id,
                          VALUE klass) {
  rb_sp_flow *from, *to;

  (void)event, (void)data, (void)self, (void)id, (void)klass;
  /* What was before the last stop is no caller. */
  from = flow_running.turn == flow_turn ? flow_running.flow : NULL;
  if (!flow_here())
    return;
  to = flow_arrive(rb_fiber_current());
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
  VALUE made;

  (void)event, (void)data, (void)self, (void)id, (void)klass;
  flow_running.turn = 0;
  if (!flow_here())
    return;
  made = rb_attr_get(rb_thread_current(), flow_held);
  flow_run(RB_SPECIAL_CONST_P(made) ? NULL
                                    : flow_adopt(made, rb_fiber_current()));
}

static VALUE flow_fiber_initialize(int argc, VALUE *argv, VALUE fiber) {
  int keywords = rb_keyword_given_p();

  if (rb_sp_ractor_is_main())
    rb_ivar_set(fiber, flow_held, flow_inheritance());
  return rb_call_super_kw(argc, argv, keywords);
}

static VALUE flow_thread_initialize(int argc, VALUE *argv, VALUE thread) {
  int keywords = rb_keyword_given_p();

  if (flow_inherits && rb_sp_ractor_is_main())
    rb_ivar_set(thread, flow_held, flow_inheritance());
  return rb_call_super_kw(argc, argv, keywords);
}

/* Native.flows_inherit(on) */
static VALUE flow_inherit(VALUE self, VALUE on) {
  VALUE hook;

  (void)self;
  rb_sp_context_want();
  if (RTEST(on) && !flow_hooks_threads) {
    hook = rb_define_module_under(rb_sp_native, "ThreadHook");
    rb_ext_ractor_safe(true);
    rb_define_private_method(hook, "initialize", flow_thread_initialize, -1);
    rb_ext_ractor_safe(false);
    rb_prepend_module(rb_cThread, hook);
    flow_hooks_threads = true;
  }
  flow_inherits = RTEST(on);
  return Qnil;
}

static VALUE flow_fiber_known(VALUE fiber, VALUE data, int argc,
                              const VALUE *argv, VALUE block) {
  (void)data, (void)argc, (void)argv, (void)block;
  if (RB_NIL_P(rb_attr_get(fiber, flow_held)) && !RB_OBJ_FROZEN(fiber))
    rb_ivar_set(fiber, flow_held, Qtrue);
  return Qnil;
}

/* Fibers that were made while nobody watched: an enumerator's is not kept
 * before it starts. */
static VALUE flow_fibers_know(VALUE fiber_class) {
  return rb_block_call(rb_path2class("ObjectSpace"), rb_intern("each_object"),
                       1, &fiber_class, flow_fiber_known, Qnil);
}

static VALUE flow_fibers_know_guarded(VALUE fiber_class) {
  return rb_sp_guard(flow_fibers_know, fiber_class);
}

static void flow_follow(void) {
  const VALUE fiber_class = rb_const_get(rb_cObject, rb_intern("Fiber"));
  int interrupt = 0;

  flow_followed = true;
  flow_turn++;
  if (!flow_fiber_hook) {
    flow_fiber_hook = rb_define_module_under(rb_sp_native, "FiberHook");
    rb_prepend_module(fiber_class, flow_fiber_hook);
  }
  rb_ext_ractor_safe(true);
  rb_define_private_method(flow_fiber_hook, "initialize", flow_fiber_initialize,
                           -1);
  rb_ext_ractor_safe(false);
  rb_protect(flow_fibers_know_guarded, fiber_class, &interrupt);
  rb_add_event_hook(flow_switched, RUBY_EVENT_FIBER_SWITCH, Qnil);
  rb_add_event_hook(flow_thread_begins, RUBY_EVENT_THREAD_BEGIN, Qnil);
  flow_run(flow_of(rb_fiber_current()));
  rb_sp_activation_hook(true);
  if (interrupt)
    rb_jump_tag(interrupt);
}

/* What a flow works for, nobody will know when it is followed again. Whatever
 * thread shows it shows nothing from now on. */
static void flow_forget(rb_sp_flow *flow) {
  spanprof_context_free(flow->context);
  flow->context = NULL;
  flow->span = flow->inherited = flow->shown = 0;
  flow->shown_token = 0;
  flow->called = false;
  flow->caller = NULL;
}

/* Ruby warns of anyone who removes an initialize, even of a module. */
static void flow_fiber_unhook(void) {
  VALUE *verbose = rb_ruby_verbose_ptr(), before = *verbose;

  *verbose = Qnil;
  rb_remove_method(flow_fiber_hook, "initialize");
  *verbose = before;
}

static void flow_unfollow(void) {
  struct flow_slab *slab;
  size_t i;

  rb_sp_activation_hook(false);
  rb_remove_event_hook(flow_switched);
  rb_remove_event_hook(flow_thread_begins);
  flow_fiber_unhook();
  for (slab = flow_slabs; slab; slab = slab->next)
    for (i = 0; i < FLOW_SLAB; i++)
      flow_forget(&slab->flows[i]);
  memset(flow_seen, 0, sizeof flow_seen);
  flow_followed = false;
}

static void flow_turn_to(bool wanted, bool profiled) {
  flow_wanted = wanted;
  flow_profiled = profiled;
  if (wanted && profiled && !flow_followed)
    flow_follow();
  else if (!profiled && flow_followed)
    flow_unfollow();
}

/* Native.profiled = on: fibers, threads and spans are followed meanwhile. */
static VALUE flow_profiled_set(VALUE self, VALUE on) {
  (void)self;
  flow_turn_to(flow_wanted, RTEST(on));
  return on;
}

void rb_sp_context_want(void) {
  flow_turn_to(true, flow_profiled);
}

bool rb_sp_context_follows(void) {
  return flow_followed;
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
  flow_class = rb_sp_class_opaque("Flow");
  flow_held = rb_intern("spanprof flow");
  rb_define_module_function(rb_sp_native, "flows_inherit", flow_inherit, 1);
  rb_define_module_function(rb_sp_native, "profiled=", flow_profiled_set, 1);
  flow_next = rb_intern("next");
  flow_next_values = rb_intern("next_values");
  flow_peek = rb_intern("peek");
  flow_peek_values = rb_intern("peek_values");
}
