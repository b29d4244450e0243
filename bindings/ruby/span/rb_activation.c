#include "rb_activation.h"

#include <string.h>

#include "base/rb_override.h"
#include "context/rb_context.h"
#include "context/rb_follow.h"
#include "rb_span.h"

/* Number of entries of activation_seen, a power of two. */
#define ACTIVATION_SEEN 64u

/* An entry of a cache with the address of an OpenTelemetry context as its key.
 * It has a fact about the context that cannot change: the context has no span
 * (`span` is nil), or a span that the span processor has seen (`record`). The
 * garbage collector may reuse an address: see activation_seen_empty(). */
typedef struct activation_look {
  VALUE context;
  VALUE span;
  const rb_sp_span *record;
} activation_look;

static activation_look activation_seen[ACTIVATION_SEEN];

static ID activation_entries, activation_value, activation_stack,
    activation_context, activation_trace_id, activation_remote,
    activation_attach_id, activation_detach_id, activation_attach_original,
    activation_detach_original, activation_clear_original;

/* OpenTelemetry::Context, and the key under which a context has its span. */
static VALUE activation_class = Qnil;
static VALUE activation_key = Qnil;

/* Name of the variable in which the API keeps a fiber's stack of contexts: an
 * instance variable of the fiber (since opentelemetry-api 1.5) or a fiber-local
 * variable. Both are 0 if only a call of the API returns the stack. */
static ID activation_ivar;
static ID activation_local;

/* `activation_plain`: the argument `plain` of activation_follow().
 * `activation_installing`: this binding is just replacing the methods of
 * OpenTelemetry::Context. */
static bool activation_plain, activation_installing;

/* Native::ContextHook, which has the replacement methods, and
 * Native::ContextWatch, which detects that other code redefines these methods.
 */
static VALUE activation_hook, activation_watch;

static int activation_entry(VALUE key, VALUE value, VALUE found) {
  if (key != activation_key)
    return ST_CONTINUE;
  *(VALUE *)found = value;
  return ST_STOP;
}

static VALUE activation_value_call(VALUE context) {
  return rb_funcallv(context, activation_value, 1, &activation_key);
}

/* The program may attach any object as a context. Errors that its methods raise
 * must not reach the code that attaches it. */
VALUE rb_sp_activation_span(VALUE context) {
  VALUE entries, span = Qnil;

  if (RB_SPECIAL_CONST_P(context))
    return Qnil;
  entries = rb_attr_get(context, activation_entries);
  if (RB_TYPE_P(entries, T_HASH)) {
    /* Compare keys by identity; a lookup would call their hash method. */
    rb_hash_foreach(entries, activation_entry, (VALUE)&span);
    return span;
  }
  return rb_sp_guard(activation_value_call, context);
}

static activation_look activation_look_at(VALUE context) {
  activation_look *seen =
      &activation_seen[context / sizeof(struct RBasic) & (ACTIVATION_SEEN - 1)];
  activation_look look = {.context = context};

  if (seen->context == context)
    return *seen;
  look.span = rb_sp_activation_span(context);
  look.record = rb_sp_span_of(look.span);
  /* Cache only contexts of the API's class. Their entries are frozen, so the
   * span cannot change. */
  if ((look.record || NIL_P(look.span)) && !RB_SPECIAL_CONST_P(context) &&
      RBASIC_CLASS(context) == activation_class)
    *seen = look;
  return look;
}

/* Empty the cache, because the garbage collector reuses the addresses of dead
 * contexts. The object with this function has no write barriers, so the
 * collector calls the function at the start and at the end of each marking.
 * That is after the last use of a dead context and before the reuse of its
 * address. Compaction, which may come later, calls it, too. */
static void activation_seen_empty(void *data) {
  memset(data, 0, sizeof activation_seen);
}

static const rb_data_type_t activation_seen_type = {
    .wrap_struct_name = "spanprof contexts seen",
    .function = {.dmark = activation_seen_empty,
                 .dcompact = activation_seen_empty},
};

static VALUE activation_stack_call(VALUE class) {
  return rb_funcallv(class, activation_stack, 0, NULL);
}

/* Returns the running fiber's stack of contexts, or nil if it has none. */
static VALUE activation_contexts(void) {
  VALUE stack = Qundef;

  if (activation_ivar)
    stack = rb_attr_get(rb_fiber_current(), activation_ivar);
  else if (activation_local)
    stack = rb_thread_local_aref(rb_thread_current(), activation_local);
  if (RB_NIL_P(stack) || RB_TYPE_P(stack, T_ARRAY))
    return stack;
  stack = rb_sp_guard(activation_stack_call, activation_class);
  return RB_TYPE_P(stack, T_ARRAY) ? stack : Qnil;
}

/* Returns the trace id of a span that the span processor has not seen, or nil
 * if the span is remote or its id is malformed. May raise. */
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

/* Make `record` the span of the running fiber. With NULL the fiber has no span
 * of its own. */
static void activation_set(const rb_sp_span *record) {
  rb_sp_scope *scope = record ? rb_sp_scope_ensure() : rb_sp_scope_current();

  if (scope)
    rb_sp_scope_span_set(scope, record ? record->number : 0,
                         record ? record->trace_id : NULL);
}

/* Called when a span that the span processor has not seen was attached while
 * the scope has a span. Such a span is not recorded, or it wraps another span's
 * context. If it belongs to the trace of the scope's span, the scope's span
 * stays active; otherwise the fiber has no span. */
static VALUE activation_attached_other(VALUE span) {
  VALUE trace = activation_local_trace(span);
  rb_sp_scope *scope = rb_sp_scope_current();

  if (!scope)
    return Qnil;
  if (NIL_P(trace) || !activation_in_trace(scope->trace_id, trace))
    rb_sp_scope_span_set(scope, 0, NULL);
  return Qnil;
}

/* Called when, after a detach, the current span is one that the span processor
 * has not seen. Activates the nearest span of the same trace that is further
 * down the stack, if there is one. */
static VALUE activation_exposed_other(VALUE span) {
  VALUE trace = activation_local_trace(span);
  VALUE stack = activation_contexts();
  const rb_sp_span *record = NULL;
  long i;

  if (!NIL_P(trace) && !NIL_P(stack))
    for (i = RARRAY_LEN(stack) - 1; i >= 0 && !record; i--) {
      record = rb_sp_span_of(rb_sp_activation_span(RARRAY_AREF(stack, i)));
      if (record && !activation_in_trace(record->trace_id, trace))
        record = NULL;
    }
  activation_set(record);
  return Qnil;
}

/* Activate the span of `context`, which was pushed on the fiber's stack of
 * contexts. */
static void activation_attached(VALUE context) {
  const activation_look look = activation_look_at(context);
  const rb_sp_scope *scope;

  if (look.record || NIL_P(look.span)) {
    activation_set(look.record);
    return;
  }
  scope = rb_sp_scope_current();
  if (scope && scope->span)
    rb_sp_guard(activation_attached_other, look.span);
}

/* Returns whether the span ended in this fiber while it was attached. Such a
 * span gets no samples. */
static bool activation_ended_here(const rb_sp_span *record) {
  const rb_sp_scope *scope;

  if (!record->ended_in)
    return false;
  scope = rb_sp_scope_current();
  return !scope || scope->serial == record->ended_in;
}

/* A detach has made `context` the top of the fiber's stack again. Activate the
 * span of the context, unless the running fiber has ended this span. */
static void activation_exposed(VALUE context) {
  const activation_look look = activation_look_at(context);

  if (look.record || NIL_P(look.span))
    activation_set(look.record && !activation_ended_here(look.record)
                       ? look.record
                       : NULL);
  else
    rb_sp_guard(activation_exposed_other, look.span);
}

static void activation_detached(VALUE stack) {
  activation_exposed(!NIL_P(stack) && RARRAY_LEN(stack) > 0
                         ? RARRAY_AREF(stack, RARRAY_LEN(stack) - 1)
                         : Qnil);
}

/* Returns whether the replacement methods do anything. If other code has
 * wrapped them, they remain installed after following has ended. */
static bool activation_follows(void) {
  return rb_sp_context_follows() && rb_sp_ractor_is_main();
}

/* Context.attach(context). If nobody has patched the API's method, its effect
 * is reproduced here, which takes a third of the time of calling it. */
static VALUE activation_attach(VALUE self, VALUE context) {
  VALUE stack, token;

  if (!activation_follows())
    return rb_funcallv(self, activation_attach_original, 1, &context);
  stack = activation_plain ? activation_contexts() : Qnil;
  if (NIL_P(stack)) {
    token = rb_funcallv(self, activation_attach_original, 1, &context);
  } else {
    rb_ary_push(stack, context);
    token = LONG2NUM(RARRAY_LEN(stack));
  }
  activation_attached(context);
  return token;
}

/* Context.detach(token) */
static VALUE activation_detach(VALUE self, VALUE token) {
  VALUE stack, matched = Qtrue;

  if (!activation_follows())
    return rb_funcallv(self, activation_detach_original, 1, &token);
  stack = activation_plain ? activation_contexts() : Qnil;
  if (!NIL_P(stack) && RARRAY_LEN(stack) > 0 &&
      token == LONG2NUM(RARRAY_LEN(stack))) {
    rb_ary_pop(stack);
  } else {
    matched = rb_funcallv(self, activation_detach_original, 1, &token);
    stack = activation_contexts();
  }
  activation_detached(stack);
  return matched;
}

/* Context.clear */
static VALUE activation_clear(VALUE self) {
  VALUE cleared = rb_funcallv(self, activation_clear_original, 0, NULL);

  if (activation_follows())
    activation_detached(activation_contexts());
  return cleared;
}

/* Context.singleton_method_added(name): Ruby calls this when the program
 * redefines a method of Context, for example attach. From then on the program's
 * method must be called. OpenTelemetry::Context is extended with the module of
 * this method, so a singleton_method_added of the program takes precedence. */
static VALUE activation_redefined(VALUE self, VALUE name) {
  const ID id = rb_check_id(&name);

  (void)self;
  if (!activation_installing &&
      (id == activation_attach_id || id == activation_detach_id ||
       id == activation_stack))
    activation_plain = false;
  return rb_call_super(1, &name);
}

static void activation_install(bool on) {
  VALUE owner;

  if (RB_NIL_P(activation_class))
    return;
  owner = rb_singleton_class(activation_class);
  activation_installing = true;
  if (on)
    rb_sp_override_install(owner, activation_hook);
  else
    rb_sp_override_remove(owner, activation_hook);
  activation_installing = false;
}

static void activation_activate(void) {
  if (!RB_NIL_P(activation_class))
    activation_detached(activation_contexts());
}

static VALUE activation_begin(VALUE data) {
  (void)data;
  activation_install(true);
  activation_activate();
  return Qnil;
}

/* Native.activation_follow(context_class, key, instance_variable, local,
 * plain). The variables, which contain a fiber's stack of contexts, are Symbols
 * or nil. `plain` is true if the API's attach only pushes on that stack and its
 * detach only pops from it. */
static VALUE activation_follow(VALUE self, VALUE context_class, VALUE key,
                               VALUE instance_variable, VALUE local,
                               VALUE plain) {
  (void)self;
  activation_plain = RTEST(plain);
  activation_ivar = NIL_P(instance_variable) ? 0 : SYM2ID(instance_variable);
  activation_local = NIL_P(local) ? 0 : SYM2ID(local);
  activation_class = context_class;
  activation_key = key;
  rb_extend_object(context_class, activation_watch);
  rb_sp_follow_request();
  if (rb_sp_context_follows())
    rb_sp_guard(activation_begin, Qnil);
  return Qnil;
}

/* All ways to make a context current use these three methods of
 * OpenTelemetry::Context (opentelemetry-api 1.1 to 1.11). Each replacement
 * method reads the current context again, so if the program detaches out of
 * order, too often or never, the active span is still OpenTelemetry's current
 * span. */
static void activation_hook_init(void) {
  activation_attach_original = rb_sp_override_original("attach");
  activation_detach_original = rb_sp_override_original("detach");
  activation_clear_original = rb_sp_override_original("clear");
  activation_hook = rb_define_module_under(rb_sp_native, "ContextHook");
  rb_ext_ractor_safe(true);
  rb_define_method(activation_hook, "attach", activation_attach, 1);
  rb_define_method(activation_hook, "detach", activation_detach, 1);
  rb_define_method(activation_hook, "clear", activation_clear, 0);
  rb_ext_ractor_safe(false);
}

void rb_sp_activation_init(void) {
  static const rb_sp_follow_watch watch = {activation_install,
                                           activation_activate};

  rb_sp_follow_watch_set(&watch);
  activation_hook_init();
  activation_watch = rb_define_module_under(rb_sp_native, "ContextWatch");
  activation_entries = rb_intern("@entries");
  activation_value = rb_intern("value");
  activation_stack = rb_intern("stack");
  activation_context = rb_intern("context");
  activation_trace_id = rb_intern("trace_id");
  activation_remote = rb_intern("remote?");
  activation_attach_id = rb_intern("attach");
  activation_detach_id = rb_intern("detach");
  rb_define_private_method(activation_watch, "singleton_method_added",
                           activation_redefined, 1);
  rb_gc_register_address(&activation_class);
  rb_gc_register_address(&activation_key);
  rb_gc_register_mark_object(
      TypedData_Wrap_Struct(rb_sp_class_opaque("ContextsSeen"),
                            &activation_seen_type, activation_seen));
  rb_define_module_function(rb_sp_native, "activation_follow",
                            activation_follow, 5);
}
