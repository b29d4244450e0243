#include "rb_follow.h"

#include "base/rb_override.h"
#include "rb_context.h"
#include "runtime/rb_runtime.h"

static bool follow_requested, follow_profiled;

/* `follow_inherits`: new fibers and threads inherit the span and labels of
 * their creator. `follow_marked`: a recording has had a mark, so new threads
 * inherit the mark of their creator, too. */
static bool follow_inherits, follow_marked;

/* Native::FiberHook, whose `initialize` replaces that of Fiber while fibers are
 * followed; and Native::ThreadHook, whose `initialize` replaces that of Thread
 * and is never removed. */
static VALUE follow_fiber_hook, follow_thread_hook;
static ID follow_initialize;

static const rb_sp_follow_watch *follow_watch;

/* If other code has wrapped this method, it remains installed after following
 * has ended. It then only calls the original. */
static VALUE follow_fiber_initialize(int argc, VALUE *argv, VALUE fiber) {
  if (rb_sp_context_follows() && rb_sp_ractor_is_main())
    rb_sp_context_created(fiber, follow_inherits);
  return rb_sp_override_call(fiber, follow_initialize, argc, argv);
}

static VALUE follow_thread_initialize(int argc, VALUE *argv, VALUE thread) {
  if ((follow_inherits || follow_marked) && rb_sp_ractor_is_main())
    rb_sp_context_created(thread, follow_inherits);
  return rb_sp_override_call(thread, follow_initialize, argc, argv);
}

static VALUE follow_fiber(VALUE fiber, VALUE data, int argc, const VALUE *argv,
                          VALUE block) {
  (void)data, (void)argc, (void)argv, (void)block;
  rb_sp_context_created_before(fiber);
  return Qnil;
}

static VALUE follow_fiber_class(void) {
  return rb_const_get(rb_cObject, rb_intern("Fiber"));
}

/* Call rb_sp_context_created_before() for all existing fibers. ObjectSpace does
 * not list the fiber of an enumerator that has not started. */
static void follow_fibers(void) {
  const VALUE fiber_class = follow_fiber_class();

  rb_block_call(rb_path2class("ObjectSpace"), rb_intern("each_object"), 1,
                &fiber_class, follow_fiber, Qnil);
}

/* Install the replacement methods. Idempotent. This runs Ruby code, so other
 * Ruby threads may run meanwhile. */
static void follow_hook(void) {
  rb_sp_override_install(follow_fiber_class(), follow_fiber_hook);
  follow_watch->install(true);
}

static VALUE follow_begin(VALUE data) {
  (void)data;
  follow_hook();
  if (!follow_profiled || rb_sp_context_follows())
    return Qnil;
  rb_sp_context_follow_begin();
  follow_fibers();
  rb_sp_context_listen();
  follow_watch->activate();
  return Qnil;
}

static VALUE follow_end(VALUE data) {
  (void)data;
  rb_sp_context_follow_end();
  follow_watch->install(false);
  rb_sp_override_remove(follow_fiber_class(), follow_fiber_hook);
  if (rb_sp_context_follows())
    follow_hook();
  return Qnil;
}

static void follow_change(void) {
  if (follow_requested && follow_profiled && !rb_sp_context_follows())
    rb_sp_guard(follow_begin, Qnil);
  else if (!follow_profiled && rb_sp_context_follows())
    rb_sp_guard(follow_end, Qnil);
}

void rb_sp_follow_watch_set(const rb_sp_follow_watch *watch) {
  follow_watch = watch;
}

void rb_sp_follow_update(void) {
  follow_profiled = rb_sp_runtime_is_retained();
  follow_change();
}

void rb_sp_follow_request(void) {
  follow_requested = true;
  follow_change();
}

void rb_sp_follow_marks(void) {
  rb_sp_follow_request();
  if (!follow_marked)
    rb_sp_override_install(rb_cThread, follow_thread_hook);
  follow_marked = true;
}

/* Native.follow_update */
static VALUE native_follow_update(VALUE self) {
  rb_sp_follow_update();
  return self;
}

/* Native.scopes_inherit(on) */
static VALUE native_scopes_inherit(VALUE self, VALUE on) {
  (void)self;
  rb_sp_follow_request();
  follow_inherits = RTEST(on);
  if (follow_inherits)
    rb_sp_override_install(rb_cThread, follow_thread_hook);
  return Qnil;
}

/* Define the module Native::`name` with one method, `initialize`. */
static VALUE follow_hook_new(const char *name,
                             VALUE (*initialize)(int, VALUE *, VALUE)) {
  VALUE hook = rb_define_module_under(rb_sp_native, name);

  rb_ext_ractor_safe(true);
  rb_define_private_method(hook, "initialize", initialize, -1);
  rb_ext_ractor_safe(false);
  return hook;
}

void rb_sp_follow_init(void) {
  follow_initialize = rb_sp_override_original("initialize");
  follow_fiber_hook = follow_hook_new("FiberHook", follow_fiber_initialize);
  follow_thread_hook = follow_hook_new("ThreadHook", follow_thread_initialize);
  rb_define_module_function(rb_sp_native, "scopes_inherit",
                            native_scopes_inherit, 1);
  rb_define_module_function(rb_sp_native, "follow_update", native_follow_update,
                            0);
}
