#include "rb_take.h"

#include <ruby.h>
#include <ruby/thread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rb_follow.h"
#include "rb_runtime.h"
#include "rb_spanprof.h"

/* One take; of a forked process the child has none. */
typedef struct rb_take {
  spanprof_take *take; /* NULL: it was ended */
  pid_t pid;
} rb_take;

typedef struct take_call {
  spanprof_take *take;
  uint32_t ms;
  bool ran;
  spanprof_status status;
  char *bytes;
  size_t size;
} take_call;

static void take_keep(void *data, const spanprof_profile_view *profile) {
  take_call *call = data;

  call->bytes = malloc(profile->size_bytes);
  if (!call->bytes)
    return;
  memcpy(call->bytes, profile->bytes, profile->size_bytes);
  call->size = profile->size_bytes;
}

static void *take_begin_run(void *data) {
  take_call *call = data;

  call->status = spanprof_take_begin(call->ms, &call->take);
  call->ran = true;
  return NULL;
}

static void *take_end_run(void *data) {
  take_call *call = data;

  call->status = spanprof_take_end(call->take, call->ms, take_keep, call);
  call->ran = true;
  return NULL;
}

/* Run it, without the GVL, to its end: what interrupts the thread raises before
 * it, or waits until the caller is done. */
static void take_run(void *(*run)(void *), take_call *call) {
  do {
    rb_thread_check_ints();
    rb_nogvl(run, call, NULL, NULL, RB_NOGVL_INTR_FAIL);
  } while (!call->ran);
}

/* The garbage collector found it not ended: it may not wait here, so that the
 * core's is left to end by itself. */
static void take_free(void *data) {
  rb_take *take = data;
  take_call call = {.take = take->take};

  if (take->take && take->pid == getpid()) {
    take_end_run(&call);
    rb_sp_runtime_forget();
    free(call.bytes);
  }
  xfree(take);
}

static size_t take_memsize(const void *data) {
  (void)data;
  return sizeof(rb_take);
}

static const rb_data_type_t take_type = {
    .wrap_struct_name = "Spanprof::Native::Take",
    .function = {.dfree = take_free, .dsize = take_memsize},
};

NORETURN(static void take_refuse(void));

static void take_refuse(void) {
  rb_raise(rb_sp_error, "%s", spanprof_last_error());
}

static VALUE take_begin_wait(VALUE call) {
  rb_sp_follow_settle();
  take_run(take_begin_run, (take_call *)call);
  return Qnil;
}

/* Returns what interrupted it. */
static int take_leave(void) {
  const int interrupt = rb_sp_runtime_release();

  rb_sp_follow_settle();
  return interrupt;
}

/* call-seq: Take.begin(ms) -> Take */
static VALUE take_s_begin(VALUE self, VALUE ms) {
  take_call call = {.ms = NUM2UINT(ms)};
  rb_take *take;
  VALUE object = TypedData_Make_Struct(self, rb_take, &take_type, take);
  int interrupt = 0, left;

  rb_sp_runtime_hold();
  rb_protect(take_begin_wait, (VALUE)&call, &interrupt);
  if (call.take) {
    take->take = call.take;
    take->pid = getpid();
    return object;
  }
  left = take_leave();
  if (interrupt || left)
    rb_jump_tag(interrupt ? interrupt : left);
  take_refuse();
}

/* call-seq: end(timeout_ms) -> String or nil
 *
 * The profile, pprof in gzip; nil: it is not over, and given up, or was ended.
 */
static VALUE take_end(VALUE self, VALUE timeout_ms) {
  take_call call = {.ms = NUM2UINT(timeout_ms)};
  VALUE profile = Qnil;
  rb_take *take;
  int interrupt;

  TypedData_Get_Struct(self, rb_take, &take_type, take);
  if (!take->take || take->pid != getpid())
    return Qnil;
  call.take = take->take;
  take_run(take_end_run, &call);
  take->take = NULL;
  interrupt = take_leave();
  if (call.bytes)
    profile = rb_str_new(call.bytes, (long)call.size);
  free(call.bytes);
  if (interrupt)
    rb_jump_tag(interrupt);
  if (call.status && call.status != SPANPROF_ERR_TIMEOUT)
    take_refuse();
  return profile;
}

void rb_sp_take_init(void) {
  VALUE take = rb_define_class_under(rb_sp_native, "Take", rb_cObject);

  rb_undef_alloc_func(take);
  rb_define_singleton_method(take, "begin", take_s_begin, 1);
  rb_define_method(take, "end", take_end, 1);
}
