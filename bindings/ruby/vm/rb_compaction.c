#include "rb_compaction.h"

#include <ruby.h>
#include <stdatomic.h>

#include "base/rb_override.h"
#include "util/base.h"

/* The signal handler reads both variables. */
SP_HANDLER_DATA static _Atomic bool compaction_automatic;
SP_HANDLER_DATA static _Atomic int compaction_running;

SP_HANDLER_CODE bool rb_sp_compaction_possible(void) {
  return atomic_load_explicit(&compaction_automatic, memory_order_relaxed) ||
         atomic_load_explicit(&compaction_running, memory_order_relaxed) > 0;
}

static void automatic_learn(void) {
  VALUE on = Qfalse;

  if (rb_respond_to(rb_mGC, rb_intern("auto_compact")))
    on = rb_funcall(rb_mGC, rb_intern("auto_compact"), 0);
  atomic_store(&compaction_automatic, RTEST(on));
}

/* The arguments of a call of a replaced method. */
typedef struct original_call {
  VALUE self;
  int count;
  const VALUE *arguments;
} original_call;

static VALUE original_run(VALUE data) {
  const original_call *call = (const original_call *)data;
  const ID original = rb_sp_override_original(rb_id2name(rb_frame_this_func()));

  return rb_sp_override_call(call->self, original, call->count,
                             call->arguments);
}

/* GC.auto_compact=: assume that compaction is on before the original method
 * switches it on, and until the original method has switched it off. */
static VALUE automatic_set(int count, VALUE *arguments, VALUE self) {
  const original_call call = {self, count, arguments};
  VALUE result;

  if (count == 1 && RTEST(arguments[0]))
    atomic_store(&compaction_automatic, true);
  result = original_run((VALUE)&call);
  automatic_learn();
  return result;
}

static VALUE compaction_end(VALUE data) {
  (void)data;
  atomic_fetch_sub(&compaction_running, 1);
  return Qnil;
}

static VALUE compaction_run(int count, VALUE *arguments, VALUE self) {
  const original_call call = {self, count, arguments};

  atomic_fetch_add(&compaction_running, 1);
  return rb_ensure(original_run, (VALUE)&call, compaction_end, Qnil);
}

/* Define a replacement `name` in `module` if `of` has this method. Some
 * versions of Ruby do not have it. */
static void method_watch(VALUE module, VALUE of, const char *name,
                         VALUE (*watch)(int, VALUE *, VALUE)) {
  if (rb_respond_to(of, rb_intern(name)))
    rb_define_method(module, name, watch, -1);
}

void rb_sp_compaction_watch(void) {
  static bool watching;
  VALUE gc, process;

  if (watching)
    return;
  watching = true;
  gc = rb_module_new();
  process = rb_module_new();
  rb_ext_ractor_safe(true);
  method_watch(gc, rb_mGC, "auto_compact=", automatic_set);
  method_watch(gc, rb_mGC, "compact", compaction_run);
  method_watch(gc, rb_mGC, "verify_compaction_references", compaction_run);
  method_watch(process, rb_mProcess, "warmup", compaction_run);
  rb_ext_ractor_safe(false);
  rb_sp_override_install(rb_singleton_class(rb_mGC), gc);
  rb_sp_override_install(rb_singleton_class(rb_mProcess), process);
  automatic_learn();
}
