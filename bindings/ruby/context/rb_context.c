#include "rb_context.h"

#include <ruby/debug.h>
#include <string.h>

/* Number of entries of scope_seen, a power of two. */
#define SCOPE_SEEN 256u

/* Maximum number of nested enumerator calls that are followed. */
#define SCOPE_CALLERS_MAX 64

/* Name of an instance variable of a fiber. Ruby code cannot see the variable.
 * It contains the object that owns the fiber's scope, or true if Ruby code
 * created the fiber and the fiber has no scope yet. On a thread that Ruby code
 * created, the variable has the same meaning for the thread's first fiber. A
 * copy of a fiber also copies the variable; therefore a scope refers to its
 * fiber. */
static ID scope_holder_ivar;

/* The names of the methods of Enumerator that resume the enumerator's fiber. */
static ID scope_next, scope_next_values, scope_peek, scope_peek_values;

static bool scopes_followed;

/* Incremented by each rb_sp_context_follow_begin(). A thread whose
 * scope_running has this generation is known to belong to the main Ractor. */
static uint32_t scope_generation;

/* The cache of scope_of(), a hash table with the fiber's address as its key.
 * `scope` is NULL if the fiber has no scope. A new fiber may have the address
 * of a dead one: see seen_mark(). */
static struct {
  VALUE fiber;
  rb_sp_scope *scope;
} scope_seen[SCOPE_SEEN];

/* The TLS model initial-exec: each switch of fibers reads the variable with a
 * load instead of a call. tls.h of the core explains the model and its limit on
 * the size of variables. musl refuses this model in a library that is loaded
 * with dlopen(). */
#if defined(__GLIBC__)
#define SCOPE_TLS __attribute__((tls_model("initial-exec")))
#else
#define SCOPE_TLS
#endif

/* The scope of the fiber that runs on this thread. When scope_switched()
 * begins, it is still the scope of the fiber that ran before the switch.
 * `scope` is NULL if the fiber has no scope. Fibers do not move between
 * threads. */
static _Thread_local struct {
  rb_sp_scope *scope;
  uint64_t serial;
  uint32_t generation; /* scope_generation when the thread was last known to
                        * belong to the main Ractor */
} scope_running SCOPE_TLS;

static size_t seen_slot(VALUE fiber) {
  return fiber / sizeof(struct RBasic) * UINT32_C(2654435761) >> 8 &
         (SCOPE_SEEN - 1);
}

static void seen_set(VALUE fiber, rb_sp_scope *scope) {
  const size_t slot = seen_slot(fiber);

  scope_seen[slot].fiber = fiber;
  scope_seen[slot].scope = scope;
}

/* Empty the cache, because the garbage collector may find that a fiber is dead
 * and reuse its address before it frees the scope. The object with this
 * function has no write barriers, so the collector calls the function at the
 * start and at the end of each marking. That is after the last use of a dead
 * fiber and before the reuse of its address. */
static void seen_mark(void *data) {
  memset(data, 0, sizeof scope_seen);
}

static const rb_data_type_t seen_type = {
    .wrap_struct_name = "spanprof scopes seen",
    .function = {.dmark = seen_mark},
};

/* Returns the scope of `fiber`, or NULL if it has none. Does not use the cache.
 */
static rb_sp_scope *scope_in(VALUE fiber) {
  VALUE holder = rb_attr_get(fiber, scope_holder_ivar);
  rb_sp_scope *scope;

  if (RB_SPECIAL_CONST_P(holder))
    return NULL;
  scope = RTYPEDDATA_DATA(holder);
  return scope->fiber == fiber ? scope : NULL;
}

/* Returns the scope of `fiber`, which is running, or NULL if it has none. */
static rb_sp_scope *scope_of(VALUE fiber) {
  const size_t slot = seen_slot(fiber);

  if (scope_seen[slot].fiber != fiber)
    seen_set(fiber, scope_in(fiber));
  return scope_seen[slot].scope;
}

/* Make the scope that the object `holder` owns the scope of `fiber`, which is
 * running. */
static rb_sp_scope *scope_adopt(VALUE holder, VALUE fiber) {
  rb_sp_scope *scope = RTYPEDDATA_DATA(holder);

  RB_OBJ_WRITE(holder, &scope->fiber, fiber);
  rb_ivar_set(fiber, scope_holder_ivar, holder);
  seen_set(fiber, scope);
  return scope;
}

static rb_sp_scope *scope_new(VALUE fiber) {
  return scope_adopt(rb_sp_scope_holder_new(), fiber);
}

/* Returns the first value of the variable scope_holder_ivar, for a fiber or
 * thread that the running fiber creates. */
static VALUE scope_inheritance(bool inherits) {
  spanprof_span span = inherits ? spanprof_span_active() : 0;
  spanprof_labels labels = inherits ? spanprof_labels_get() : 0;
  spanprof_mark mark = spanprof_mark_get();
  rb_sp_scope *scope;
  VALUE holder;

  if (!span && !labels && !mark)
    return Qtrue;
  holder = rb_sp_scope_holder_new();
  scope = RTYPEDDATA_DATA(holder);
  scope->inherited = span;
  scope->labels = labels;
  scope->mark = mark;
  return holder;
}

/* Returns the scope from which `scope` gets its span, its labels or its mark,
 * which `has` selects: the scope itself, the nearest caller that has a value of
 * its own, or the outermost caller. Returns NULL if a caller has ended. */
static const rb_sp_scope *scope_source(const rb_sp_scope *scope,
                                       bool (*has)(const rb_sp_scope *scope)) {
  size_t i;

  for (i = 0; i < SCOPE_CALLERS_MAX; i++) {
    if (!scope->resumed || has(scope))
      return scope;
    if (!scope->caller || scope->caller->serial != scope->caller_serial)
      return NULL;
    scope = scope->caller;
  }
  return NULL;
}

static spanprof_span scope_span_of(const rb_sp_scope *scope) {
  if (!scope)
    return 0;
  return scope->span ? scope->span : scope->inherited;
}

/* Switch the thread to the context of `scope` and give the context this span,
 * these labels and this mark. If memory runs out, the thread has no span,
 * labels or mark. */
static void scope_activate(rb_sp_scope *scope, spanprof_span span,
                           spanprof_labels labels, spanprof_mark mark) {
  if (!scope->context &&
      ((!span && !labels && !mark) || spanprof_context_new(&scope->context))) {
    spanprof_context_switch(NULL);
    return;
  }
  spanprof_context_switch(scope->context);
  if (scope->active_span != span) {
    spanprof_span_leave(scope->active_token);
    scope->active_token = 0;
    scope->active_span = 0;
    if (span && !spanprof_span_enter(span, &scope->active_token))
      scope->active_span = span;
  }
  if (spanprof_labels_get() != labels)
    spanprof_labels_set(labels);
  if (spanprof_mark_get() != mark)
    spanprof_mark_set(mark);
}

/* Switch the thread to the context for `scope`, which belongs to an
 * enumerator's fiber. If the fiber has no span, labels or mark of its own, its
 * caller's context is used. Otherwise the fiber's own context is used, with a
 * copy of the caller's value for each value that the fiber does not have. */
static void scope_activate_enumerator(rb_sp_scope *scope) {
  const rb_sp_scope *span_of = scope_source(scope, rb_sp_scope_has_span);
  const rb_sp_scope *labels_of = scope_source(scope, rb_sp_scope_has_labels);
  const rb_sp_scope *mark_of = scope_source(scope, rb_sp_scope_has_mark);

  if (span_of != scope && span_of == labels_of && span_of == mark_of)
    spanprof_context_switch(span_of ? span_of->context : NULL);
  else
    scope_activate(scope, scope_span_of(span_of),
                   labels_of ? labels_of->labels : 0,
                   mark_of ? mark_of->mark : 0);
}

static void scope_run(rb_sp_scope *scope) {
  if (!scopes_followed)
    return;
  scope_running.generation = scope_generation;
  scope_running.scope = scope;
  scope_running.serial = scope ? scope->serial : 0;
  if (!scope)
    spanprof_context_switch(NULL);
  else if (scope->resumed)
    scope_activate_enumerator(scope);
  else
    scope_activate(scope, scope_span_of(scope), scope->labels, scope->mark);
}

/* Returns whether the switch from `from`, the fiber of an enumerator, to `to`
 * ends the call (for example Enumerator#next) that resumed `from`. While a
 * caller waits for the fiber that it has resumed, Ruby does not resume the
 * caller. So if the caller runs again, the call has returned. A caller without
 * a scope could be any fiber without a scope, for example a scheduler's; it is
 * the caller if it is running a method that resumes an enumerator. */
static bool scope_resume_returned(const rb_sp_scope *from,
                                  const rb_sp_scope *to) {
  ID method;

  if (from->caller)
    return to == from->caller;
  if (to)
    return false;
  method = rb_frame_this_func();
  return method == scope_next || method == scope_next_values ||
         method == scope_peek || method == scope_peek_values;
}

/* Returns the scope of a fiber that starts, or NULL if it has none. A fiber
 * without scope_holder_ivar was not created by Fiber.new; it belongs to an
 * enumerator (rb_fiber_new() in enumerator.c). */
static rb_sp_scope *scope_begin(VALUE fiber) {
  VALUE holder = rb_attr_get(fiber, scope_holder_ivar);
  rb_sp_scope *scope;

  if (holder == Qtrue)
    return NULL;
  if (!RB_NIL_P(holder))
    return scope_adopt(holder, fiber);
  scope = scope_new(fiber);
  scope->enumerator = true;
  return scope;
}

/* Returns the scope of the fiber that runs after a switch, or NULL if it has
 * none. A fiber without a frame has just started. */
static rb_sp_scope *scope_arrive(VALUE fiber) {
  const size_t slot = seen_slot(fiber);
  rb_sp_scope *scope;

  if (scope_seen[slot].fiber == fiber)
    return scope_seen[slot].scope;
  scope = scope_in(fiber);
  if (!scope && !rb_frame_this_func())
    scope = scope_begin(fiber);
  seen_set(fiber, scope);
  return scope;
}

/* Returns whether the calling thread belongs to the main Ractor. Threads of
 * other Ractors have no scopes. */
static bool scope_main_ractor(void) {
  if (scope_running.generation == scope_generation)
    return true;
  if (!rb_sp_ractor_is_main())
    return false;
  scope_running.generation = scope_generation;
  return true;
}

/* Ruby calls this hook after a switch of fibers, on the new fiber. An exception
 * that arrives with the switch (Thread#raise, Timeout) is raised before this
 * hook runs, so the hook is skipped. In this case the context of the previous
 * fiber stays active until the next switch of fibers, or the next attach or
 * detach of an OpenTelemetry context. */
static void scope_switched(rb_event_flag_t event, VALUE data, VALUE self, ID id,
                           VALUE klass) {
  rb_sp_scope *from, *to;

  (void)event, (void)data, (void)self, (void)id, (void)klass;
  /* The fiber that ran when following began is not a caller. */
  from =
      scope_running.generation == scope_generation ? scope_running.scope : NULL;
  if (!scope_main_ractor())
    return;
  to = scope_arrive(rb_fiber_current());
  if (from && from->serial != scope_running.serial)
    from = NULL;
  /* Neither fiber has a scope, so the thread's own context stays active. */
  if (!to && !scope_running.scope)
    return;
  if (from && from->resumed && scope_resume_returned(from, to))
    from->resumed = false;
  if (to && to->enumerator && !to->resumed) {
    to->resumed = true;
    to->caller = from;
    to->caller_serial = from ? from->serial : 0;
  }
  scope_run(to);
}

/* Ruby calls this hook on a new Ruby thread. scope_running may have the data of
 * another Ruby thread, because the VM reuses native threads. */
static void scope_thread_begins(rb_event_flag_t event, VALUE data, VALUE self,
                                ID id, VALUE klass) {
  VALUE holder;

  (void)event, (void)data, (void)self, (void)id, (void)klass;
  scope_running.generation = 0;
  if (!scope_main_ractor())
    return;
  holder = rb_attr_get(rb_thread_current(), scope_holder_ivar);
  scope_run(RB_SPECIAL_CONST_P(holder)
                ? NULL
                : scope_adopt(holder, rb_fiber_current()));
}

void rb_sp_context_moved(rb_sp_scope *scope) {
  seen_set(scope->fiber, scope);
}

void rb_sp_context_follow_begin(void) {
  scopes_followed = true;
  scope_generation++;
}

void rb_sp_context_listen(void) {
  rb_add_event_hook(scope_switched, RUBY_EVENT_FIBER_SWITCH, Qnil);
  rb_add_event_hook(scope_thread_begins, RUBY_EVENT_THREAD_BEGIN, Qnil);
  scope_run(scope_of(rb_fiber_current()));
}

void rb_sp_context_follow_end(void) {
  rb_remove_event_hook(scope_switched);
  rb_remove_event_hook(scope_thread_begins);
  rb_sp_scopes_deactivate();
  memset(scope_seen, 0, sizeof scope_seen);
  scopes_followed = false;
}

void rb_sp_context_created(VALUE object, bool inherits) {
  rb_ivar_set(object, scope_holder_ivar, scope_inheritance(inherits));
}

void rb_sp_context_created_before(VALUE fiber) {
  if (RB_NIL_P(rb_attr_get(fiber, scope_holder_ivar)) && !RB_OBJ_FROZEN(fiber))
    rb_ivar_set(fiber, scope_holder_ivar, Qtrue);
}

bool rb_sp_context_follows(void) {
  return scopes_followed;
}

rb_sp_scope *rb_sp_scope_current(void) {
  return scope_of(rb_fiber_current());
}

rb_sp_scope *rb_sp_scope_ensure(void) {
  VALUE fiber = rb_fiber_current();
  rb_sp_scope *scope = scope_of(fiber);

  return scope ? scope : scope_new(fiber);
}

void rb_sp_scope_span_set(rb_sp_scope *scope, spanprof_span span,
                          const uint8_t trace_id[16]) {
  scope->span = span;
  if (trace_id)
    memcpy(scope->trace_id, trace_id, sizeof scope->trace_id);
  scope_run(scope);
}

spanprof_status rb_sp_scope_labels_begin(rb_sp_scope *scope) {
  if (!scope->context) {
    spanprof_status st = spanprof_context_new(&scope->context);

    if (st)
      return st;
  }
  scope_run(scope);
  /* If the fiber belongs to an enumerator, its caller's context may be active.
   * Activate the fiber's own context instead. */
  if (scope->resumed && !scope->span && !scope->labels)
    scope_activate(scope,
                   scope_span_of(scope_source(scope, rb_sp_scope_has_span)),
                   spanprof_labels_get(), spanprof_mark_get());
  return SPANPROF_OK;
}

void rb_sp_scope_labels_set(rb_sp_scope *scope, spanprof_labels labels) {
  scope->labels = labels;
  scope_run(scope);
}

void rb_sp_scope_mark_set(rb_sp_scope *scope, spanprof_mark mark) {
  scope->mark = mark;
  scope_run(scope);
}

void rb_sp_context_init(void) {
  rb_sp_scopes_init();
  rb_gc_register_mark_object(TypedData_Wrap_Struct(
      rb_sp_class_opaque("ScopesSeen"), &seen_type, scope_seen));
  scope_holder_ivar = rb_intern("spanprof scope");
  scope_next = rb_intern("next");
  scope_next_values = rb_intern("next_values");
  scope_peek = rb_intern("peek");
  scope_peek_values = rb_intern("peek_values");
}
