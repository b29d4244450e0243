#include "rb_runtime.h"

#include <limits.h>
#include <ruby.h>
#include <ruby/version.h>
#include <ruby/vm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/rb_base.h"
#include "rb_log.h"
#include "rb_names.h"
#include "rb_naming.h"
#include "vm/rb_code_table.h"
#include "vm/rb_compaction.h"
#include "vm/rb_eval_range.h"
#include "vm/rb_jit_range.h"
#include "vm/rb_self_test.h"
#include "vm/rb_thread_table.h"
#include "vm/rb_walker.h"

#define RUNTIME_REASON_BYTES 256

/* An environment variable with the parts of the VM's memory that the stack
 * walker may read: "methods" (default), "frames" or "off". */
#define RUNTIME_WALKER_VARIABLE "SPANPROF_RUBY_WALKER"

/* One for the process, because there is one VM. Guarded by the GVL. */
static struct {
  bool tested;
  VALUE tester; /* thread that runs the self-test, or 0 */
  bool registered;
  size_t retains; /* number of sessions and recordings of the process `pid` that
                   * retain the runtime */
  pid_t pid;
  rb_sp_walker_config config;
  spanprof_range range; /* addresses of the eval loop */
  /* directory of the standard library's extension modules, or "" if it is not
   * known */
  char library_directory[PATH_MAX];
  /* why this Ruby cannot be profiled, or "" */
  char reason[RUNTIME_REASON_BYTES];
} runtime;

static void reason_set(const char *format, const char *text) {
  snprintf(runtime.reason, sizeof runtime.reason, format, text);
}

static bool mode_read(rb_sp_walker_mode *out) {
  const char *name = getenv(RUNTIME_WALKER_VARIABLE);

  if (!name || !name[0] || strcmp(name, "methods") == 0)
    *out = RB_SP_WALKER_METHODS;
  else if (strcmp(name, "frames") == 0)
    *out = RB_SP_WALKER_FRAMES;
  else if (strcmp(name, "off") == 0)
    *out = RB_SP_WALKER_OFF;
  else
    return false;
  return true;
}

/* Test the walker's modes, best mode first, until one works. */
static void mode_test(void) {
  const char *failure = NULL;

  while (runtime.config.mode < RB_SP_WALKER_OFF) {
    failure = rb_sp_self_test_run(&runtime.config);
    if (!failure)
      break;
    runtime.config.mode++;
  }
  if (runtime.config.mode == RB_SP_WALKER_OFF)
    reason_set("the stacks of this Ruby cannot be read: %s",
               failure ? failure : RUNTIME_WALKER_VARIABLE " is \"off\"");
  else if (!rb_sp_eval_range_find(&runtime.range))
    reason_set("the stacks of this Ruby cannot be read: %s",
               "the native stack of its interpreter is not as expected");
}

static void layout_test(void) {
  const rb_sp_vm_layout *layout =
      rb_sp_vm_layout_find(ruby_api_version[0], ruby_api_version[1]);

  if (!layout)
    reason_set("Ruby %s is not supported: " RB_SP_VM_VERSIONS " are",
               ruby_version);
  else if (rb_sp_vm_threads_move())
    reason_set("%s lets Ruby threads change their native threads, which is not "
               "supported: unset it",
               "RUBY_MN_THREADS");
  else if (!mode_read(&runtime.config.mode))
    reason_set("%s is not \"methods\", \"frames\" or \"off\"",
               RUNTIME_WALKER_VARIABLE);
  if (runtime.reason[0])
    return;
  runtime.config.layout = *layout;
  mode_test();
}

/* Returns the directory of the standard library's extension modules. Some
 * builds of Ruby link these modules into the interpreter. May raise. */
static VALUE library_directory(VALUE unused) {
  VALUE config;

  (void)unused;
  rb_require("rbconfig");
  config = rb_const_get(rb_path2class("RbConfig"), rb_intern("CONFIG"));
  return rb_funcall(rb_cFile, rb_intern("realpath"), 1,
                    rb_hash_aref(config, rb_str_new_cstr("rubyarchdir")));
}

static void library_directory_find(void) {
  VALUE directory = rb_sp_guard(library_directory, Qnil);

  if (RB_TYPE_P(directory, T_STRING) &&
      (size_t)RSTRING_LEN(directory) < sizeof runtime.library_directory)
    memcpy(runtime.library_directory, RSTRING_PTR(directory),
           (size_t)RSTRING_LEN(directory));
}

/* Test this Ruby. Sets *data to true when the test is complete. */
static VALUE runtime_test(VALUE data) {
  layout_test();
  library_directory_find();
  *(bool *)data = true;
  return Qnil;
}

static VALUE runtime_test_guarded(VALUE data) {
  return rb_sp_guard(runtime_test, data);
}

/* Returns whether this Ruby can be profiled. The first call tests this. The
 * test runs Ruby code, so another thread may call this function during the
 * test; it then waits. A signal handler that interrupts the test cannot wait
 * for it and gets false. */
static bool runtime_available(void) {
  const VALUE thread = rb_thread_current();
  bool ended = false;
  int interrupt = 0;

  while (runtime.tester) {
    if (runtime.tester == thread)
      return false;
    rb_thread_schedule();
  }
  if (!runtime.tested) {
    runtime.tester = thread;
    rb_protect(runtime_test_guarded, (VALUE)&ended, &interrupt);
    if (!ended)
      reason_set("%s", "the self-test of this Ruby raised an error");
    runtime.tester = 0;
    runtime.tested = true;
  }
  if (interrupt)
    rb_jump_tag(interrupt);
  return !runtime.reason[0];
}

static VALUE runtime_adopt(VALUE data) {
  (void)data;
  rb_sp_compaction_watch();
  if (!rb_sp_threads_start())
    rb_sp_log_write(NULL, SPANPROF_LOG_WARN,
                    "there are too many threads: samples of some threads "
                    "have no Ruby frames");
  return Qnil;
}

static VALUE runtime_adopt_guarded(VALUE data) {
  return rb_sp_guard(runtime_adopt, data);
}

static bool runtime_register(void) {
  spanprof_runtime description = {
      .struct_size = sizeof description,
      .name = "ruby",
      .version = ruby_version,
      .walk = rb_sp_walker_walk,
      .resolve = rb_sp_names_resolve,
      .want_names = rb_sp_naming_request,
      .eval_ranges = &runtime.range,
      .eval_range_count = 1,
      .stack_end = rb_sp_walker_stack_end,
      .library_directory = runtime.library_directory,
  };

  return !spanprof_runtime_register(&description);
}

/* Register the runtime with the core. If this fails, returns false, and
 * runtime.reason or spanprof_last_error() has the reason. */
static bool runtime_start(void) {
  int interrupt = 0;

  if (runtime.registered)
    return true;
  if (!runtime_available())
    return false;
  rb_sp_walker_configure(&runtime.config);
  rb_protect(runtime_adopt_guarded, Qnil, &interrupt);
  /* Another thread may have registered the runtime while Ruby code ran. */
  if (!runtime.registered)
    runtime.registered = runtime_register();
  rb_sp_jit_range_follow();
  rb_sp_naming_start();
  if (interrupt)
    rb_jump_tag(interrupt);
  return runtime.registered;
}

static VALUE runtime_start_checked(VALUE data) {
  if (!runtime_start())
    rb_raise(rb_sp_error, "%s",
             runtime.reason[0] ? runtime.reason : spanprof_last_error());
  return data;
}

/* Remove the runtime from the core. Called in a forked child whose parent had
 * recordings but no session, so that nothing retains the runtime. */
static void runtime_drop(void) {
  runtime.registered = false;
  spanprof_runtime_unregister();
  rb_sp_code_after_fork();
  rb_sp_threads_stop();
  rb_sp_naming_forget();
}

/* Returns the number of retains of this process. A forked child has at most
 * one, for its parent's session. It has neither the parent's recordings nor
 * sessions that other threads of the parent were just starting. */
static size_t *runtime_retains(void) {
  if (runtime.pid != getpid()) {
    runtime.retains = spanprof_session_running() ? 1 : 0;
    runtime.pid = getpid();
    if (!runtime.retains && runtime.registered)
      runtime_drop();
  }
  return &runtime.retains;
}

void rb_sp_runtime_retain(void) {
  int state = 0;

  ++*runtime_retains();
  rb_protect(runtime_start_checked, Qnil, &state);
  if (state) {
    rb_sp_runtime_release();
    rb_jump_tag(state);
  }
}

void rb_sp_runtime_forget(void) {
  if (*runtime_retains() > 0)
    --*runtime_retains();
}

int rb_sp_runtime_release(void) {
  rb_sp_runtime_forget();
  if (rb_sp_runtime_is_retained() || !runtime.registered)
    return 0;
  runtime.registered = false;
  spanprof_runtime_unregister();
  rb_sp_threads_stop();
  return rb_sp_naming_stop();
}

bool rb_sp_runtime_is_retained(void) {
  return *runtime_retains() > 0;
}

static VALUE resolve_all(VALUE data) {
  rb_sp_naming_all();
  return data;
}

void rb_sp_runtime_resolve_all(void) {
  if (runtime.registered)
    rb_sp_guard(resolve_all, Qnil);
}

/* Called when the VM is about to free its threads and its heap. From now on no
 * stack may be walked. */
static void vm_end(ruby_vm_t *vm) {
  (void)vm;
  spanprof_runtime_unregister();
  runtime.registered = false;
  rb_sp_threads_end();
}

static VALUE native_available_p(VALUE self) {
  (void)self;
  return runtime_available() ? Qtrue : Qfalse;
}

static VALUE native_unavailable_reason(VALUE self) {
  (void)self;
  return runtime_available() ? Qnil : rb_str_new_cstr(runtime.reason);
}

/* call-seq: after_fork_child -> nil */
static VALUE native_after_fork_child(VALUE self) {
  (void)self;
  rb_sp_code_after_fork();
  rb_sp_threads_after_fork();
  rb_sp_naming_forget();
  if (runtime.registered)
    rb_sp_naming_start();
  return Qnil;
}

/* call-seq: walker -> Hash
 *
 * State and counters of the walker, for tests and support. */
static VALUE native_walker(VALUE self) {
  static const char *const modes[] = {"methods", "frames", "off"};
  VALUE result = rb_hash_new();

  (void)self;
  rb_hash_aset(result, ID2SYM(rb_intern("mode")),
               ID2SYM(rb_intern(modes[runtime.config.mode])));
  rb_hash_aset(result, ID2SYM(rb_intern("torn")), ULL2NUM(rb_sp_walker_torn()));
  rb_hash_aset(result, ID2SYM(rb_intern("codes")),
               UINT2NUM(rb_sp_code_count()));
  rb_hash_aset(result, ID2SYM(rb_intern("refused")),
               ULL2NUM(rb_sp_code_refused()));
  return result;
}

void rb_sp_runtime_init(void) {
  rb_sp_code_table_init();
  rb_sp_threads_init();
  rb_sp_names_init();
  rb_sp_naming_init();
  rb_sp_self_test_init();
  rb_sp_eval_range_init();
  rb_sp_jit_range_init();
  ruby_vm_at_exit(vm_end);
  rb_define_singleton_method(rb_sp_native, "available?", native_available_p, 0);
  rb_define_singleton_method(rb_sp_native, "unavailable_reason",
                             native_unavailable_reason, 0);
  rb_define_singleton_method(rb_sp_native, "after_fork_child",
                             native_after_fork_child, 0);
  rb_define_singleton_method(rb_sp_native, "walker", native_walker, 0);
}
