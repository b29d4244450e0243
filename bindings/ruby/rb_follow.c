#include "rb_follow.h"

#include "rb_activation.h"
#include "rb_context.h"
#include "rb_runtime.h"

static bool follow_wanted, follow_profiled;

/* Do new fibers and threads begin with the span and labels of their creator? */
static bool follow_inherits;

/* Native::FiberHook, prepended to Fiber; it has its method only meanwhile. And
 * whether there is a Native::ThreadHook, which stays. */
static VALUE follow_fiber_hook;
static bool follow_thread_hook;

static VALUE follow_fiber_initialize(int argc, VALUE *argv, VALUE fiber) {
  int keywords = rb_keyword_given_p();

  if (rb_sp_ractor_is_main())
    rb_sp_context_created(fiber, follow_inherits);
  return rb_call_super_kw(argc, argv, keywords);
}

static VALUE follow_thread_initialize(int argc, VALUE *argv, VALUE thread) {
  int keywords = rb_keyword_given_p();

  if (follow_inherits && rb_sp_ractor_is_main())
    rb_sp_context_created(thread, true);
  return rb_call_super_kw(argc, argv, keywords);
}

static VALUE follow_fiber(VALUE fiber, VALUE data, int argc, const VALUE *argv,
                          VALUE block) {
  (void)data, (void)argc, (void)argv, (void)block;
  rb_sp_context_created_before(fiber);
  return Qnil;
}

/* Fibers that were created while nobody watched. An enumerator's is not among
 * them before it starts. */
static VALUE follow_fibers(VALUE fiber_class) {
  return rb_block_call(rb_path2class("ObjectSpace"), rb_intern("each_object"),
                       1, &fiber_class, follow_fiber, Qnil);
}

static VALUE follow_fibers_guarded(VALUE fiber_class) {
  return rb_sp_guard(follow_fibers, fiber_class);
}

static void follow_begin(void) {
  const VALUE fiber_class = rb_const_get(rb_cObject, rb_intern("Fiber"));
  int interrupt = 0;

  if (!follow_fiber_hook) {
    follow_fiber_hook = rb_define_module_under(rb_sp_native, "FiberHook");
    rb_prepend_module(fiber_class, follow_fiber_hook);
  }
  rb_sp_context_follow_begin();
  rb_ext_ractor_safe(true);
  rb_define_private_method(follow_fiber_hook, "initialize",
                           follow_fiber_initialize, -1);
  rb_ext_ractor_safe(false);
  rb_protect(follow_fibers_guarded, fiber_class, &interrupt);
  rb_sp_context_listen();
  rb_sp_activation_hook(true);
  if (interrupt)
    rb_jump_tag(interrupt);
}

/* Ruby warns of anyone who removes an initialize, even of a module. */
static void follow_fiber_unhook(void) {
  VALUE *verbose = rb_ruby_verbose_ptr(), before = *verbose;

  *verbose = Qnil;
  rb_remove_method(follow_fiber_hook, "initialize");
  *verbose = before;
}

static void follow_end(void) {
  rb_sp_activation_hook(false);
  follow_fiber_unhook();
  rb_sp_context_follow_end();
}

static void follow_change(void) {
  if (follow_wanted && follow_profiled && !rb_sp_context_follows())
    follow_begin();
  else if (!follow_profiled && rb_sp_context_follows())
    follow_end();
}

void rb_sp_follow_settle(void) {
  follow_profiled = rb_sp_runtime_held();
  follow_change();
}

void rb_sp_follow_want(void) {
  follow_wanted = true;
  follow_change();
}

/* Native.follow_settle */
static VALUE native_follow_settle(VALUE self) {
  rb_sp_follow_settle();
  return self;
}

/* Native.scopes_inherit(on) */
static VALUE native_scopes_inherit(VALUE self, VALUE on) {
  VALUE hook;

  (void)self;
  rb_sp_follow_want();
  if (RTEST(on) && !follow_thread_hook) {
    hook = rb_define_module_under(rb_sp_native, "ThreadHook");
    rb_ext_ractor_safe(true);
    rb_define_private_method(hook, "initialize", follow_thread_initialize, -1);
    rb_ext_ractor_safe(false);
    rb_prepend_module(rb_cThread, hook);
    follow_thread_hook = true;
  }
  follow_inherits = RTEST(on);
  return Qnil;
}

void rb_sp_follow_init(void) {
  rb_define_module_function(rb_sp_native, "scopes_inherit",
                            native_scopes_inherit, 1);
  rb_define_module_function(rb_sp_native, "follow_settle", native_follow_settle,
                            0);
}
