#include "rb_take.h"

#include <ruby.h>
#include <ruby/thread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rb_runtime.h"
#include "rb_session.h"
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

/* Process-wide, with the GVL: how many are under way in the process `pid`. */
static struct {
  size_t count;
  pid_t pid;
} take_state;

static void take_count(int change) {
  if (take_state.pid != getpid())
    take_state.count = 0;
  take_state.pid = getpid();
  if (change > 0 || take_state.count > 0)
    take_state.count += (size_t)change;
}

bool rb_sp_take_any(void) {
  return take_state.pid == getpid() && take_state.count > 0;
}

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

/* One is over: the thread that names frames ends where nothing is profiled any
 * more. Returns what interrupted that. */
static int take_leave(void) {
  take_count(-1);
  return rb_sp_take_any() || rb_sp_session_runs() ? 0 : rb_sp_runtime_stop();
}

/* The garbage collector found it not ended: it may not wait here, so that the
 * core's is left to end by itself. */
static void take_free(void *data) {
  rb_take *take = data;
  take_call call = {.take = take->take};

  if (take->take && take->pid == getpid()) {
    take_end_run(&call);
    take_count(-1);
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

/* call-seq: Take.begin(ms) -> Take */
static VALUE take_s_begin(VALUE self, VALUE ms) {
  take_call call = {.ms = NUM2UINT(ms)};
  rb_take *take;
  VALUE object = TypedData_Make_Struct(self, rb_take, &take_type, take);
  int interrupt = 0;

  rb_sp_session_runtime_check();
  take_run(take_begin_run, &call);
  if (call.take) {
    take->take = call.take;
    take->pid = getpid();
    take_count(1);
    return object;
  }
  if (!rb_sp_take_any() && !rb_sp_session_runs())
    interrupt = rb_sp_runtime_stop();
  if (interrupt)
    rb_jump_tag(interrupt);
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
