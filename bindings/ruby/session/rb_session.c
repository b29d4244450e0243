/* A flush or stop waits for the core, and the core's collector waits for names,
 * whose resolution needs the GVL. Therefore a separate native thread runs the
 * flush or stop. Meanwhile the calling Ruby thread sleeps without the GVL; when
 * frames wait for names, it acquires the GVL and resolves them. This also works
 * without the naming thread, which no longer exists when the interpreter exits.
 */
#include "rb_session.h"

#include <pthread.h>
#include <ruby/thread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "control.h"
#include "runtime/rb_log.h"
#include "runtime/rb_runtime.h"
#include "session/session.h"
#include "settings/option_table.h"

/* Maximum time that frames wait for their names during a flush or stop. */
#define SESSION_NAMES_NS 2000000

#define SESSION_MESSAGE_BYTES 512

/* A call of a flush or stop. */
typedef struct session_call {
  spanprof_status (*run)(spanprof_session *session, uint32_t timeout_ms);
  uint32_t timeout_ms;
  bool keep_gvl; /* do not let other Ruby threads run */
  sem_t done;
  spanprof_status status;
  char message[SESSION_MESSAGE_BYTES]; /* last error of the thread that ran
                                            the call */
} session_call;

typedef struct session_start {
  spanprof_options options;
  spanprof_status status;
} session_start;

static VALUE session_disabled; /* Spanprof::Disabled */

static void *call_run(void *data) {
  session_call *call = data;

  call->status = call->run(spanprof_session_current(), call->timeout_ms);
  strncpy(call->message, spanprof_last_error(), sizeof call->message - 1);
  sem_post(&call->done);
  return NULL;
}

/* Sleep until the call has completed (*data becomes NULL) or frames wait for
 * names. */
static void *call_sleep(void *data) {
  session_call **call = data;
  struct timespec until;

  do {
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += SESSION_NAMES_NS;
    if (until.tv_nsec >= 1000000000) {
      until.tv_nsec -= 1000000000;
      until.tv_sec++;
    }
    if (sem_timedwait(&(*call)->done, &until) == 0) {
      *call = NULL;
      return NULL;
    }
  } while (spanprof_runtime_resolve(0) == 0);
  return NULL;
}

static bool call_thread_start(pthread_t *thread, session_call *call) {
  sigset_t all, before;
  bool started;

  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  started = pthread_create(thread, NULL, call_run, call) == 0;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return started;
}

static VALUE call_wait(VALUE data) {
  session_call **pending = (session_call **)data;

  if ((*pending)->keep_gvl)
    call_sleep(pending);
  else
    rb_thread_call_without_gvl(call_sleep, pending, NULL, NULL);
  rb_sp_runtime_resolve_all();
  return Qnil;
}

static VALUE call_name(VALUE data) {
  rb_sp_runtime_resolve_all();
  return data;
}

/* Run `call`, which is on the caller's stack, to completion, even if the
 * calling thread is interrupted. Returns the interrupt, for rb_jump_tag(), or
 * 0. */
static int call_finish(session_call *call) {
  session_call *pending = call;
  int state = 0, interrupt = 0;
  pthread_t thread;

  sem_init(&call->done, 0, 0);
  rb_protect(call_name, Qnil, &interrupt);
  if (call_thread_start(&thread, call)) {
    while (pending) {
      rb_protect(call_wait, (VALUE)&pending, &state);
      if (state)
        interrupt = state;
    }
    pthread_join(thread, NULL);
  } else {
    rb_nogvl(call_run, call, NULL, NULL, RB_NOGVL_INTR_FAIL);
  }
  sem_destroy(&call->done);
  return interrupt;
}

/* Returns the result of a completed call: true if everything was delivered,
 * false if the time was too short or the delivery failed, and nil if no session
 * runs. */
static VALUE call_value(const session_call *call) {
  if (!call->status)
    return Qtrue;
  if (call->status == SPANPROF_ERR_TIMEOUT || call->status == SPANPROF_ERR_IO)
    return Qfalse;
  if (call->status == SPANPROF_ERR_STATE)
    return Qnil;
  rb_raise(rb_sp_error, "%s",
           call->message[0] ? call->message
                            : spanprof_status_text(call->status));
}

/* Run a flush to completion and return its result for Ruby code. */
static VALUE session_flush(session_call *call) {
  int interrupt;

  if (!spanprof_session_running())
    return Qnil;
  interrupt = call_finish(call);
  if (interrupt)
    rb_jump_tag(interrupt);
  return call_value(call);
}

VALUE sp_control_flush(uint32_t timeout_ms) {
  session_call call = {.run = spanprof_session_flush,
                       .timeout_ms = timeout_ms,
                       .status = SPANPROF_ERR_STATE};

  return session_flush(&call);
}

/* call-seq: flush_once(timeout_ms) -> true, false or nil
 *
 * Flush in a process that exits: does not wait for retries of failed uploads.
 */
static VALUE native_flush_once(VALUE self, VALUE timeout_ms) {
  session_call call = {.run = sp_session_flush_once,
                       .timeout_ms = NUM2UINT(timeout_ms),
                       .status = SPANPROF_ERR_STATE};

  (void)self;
  return session_flush(&call);
}

static VALUE session_stop(uint32_t timeout_ms, bool keep_gvl) {
  session_call call = {.run = spanprof_session_stop,
                       .timeout_ms = timeout_ms,
                       .keep_gvl = keep_gvl,
                       .status = SPANPROF_ERR_STATE};
  int interrupt, released = 0;

  if (!spanprof_session_running())
    return Qnil;
  interrupt = call_finish(&call);
  if (call.status != SPANPROF_ERR_STATE && keep_gvl)
    rb_sp_runtime_forget();
  else if (call.status != SPANPROF_ERR_STATE)
    released = rb_sp_runtime_release();
  if (released)
    interrupt = released;
  if (interrupt)
    rb_jump_tag(interrupt);
  return call_value(&call);
}

VALUE sp_control_stop(uint32_t timeout_ms) {
  return session_stop(timeout_ms, false);
}

/* call-seq: finish(timeout_ms) -> true, false or nil
 *
 * Stop the session in a process that exits. Keeps the GVL, because other Ruby
 * threads would only delay the exit. */
static VALUE native_finish(VALUE self, VALUE timeout_ms) {
  (void)self;
  return session_stop(NUM2UINT(timeout_ms), true);
}

/* call-seq: finish_elsewhere(timeout_ms) -> nil
 *
 * Stop the session from a Ractor other than the main one, in a process that
 * exits. The main Ractor continues to run and resolves names. */
static VALUE native_finish_elsewhere(VALUE self, VALUE timeout_ms) {
  session_call call = {.run = spanprof_session_stop,
                       .timeout_ms = NUM2UINT(timeout_ms)};

  (void)self;
  if (!spanprof_session_running())
    return Qnil;
  sem_init(&call.done, 0, 0);
  rb_nogvl(call_run, &call, NULL, NULL, 0);
  sem_destroy(&call.done);
  return Qnil;
}

static void *start_run(void *data) {
  session_start *start = data;
  spanprof_session *session;

  start->status = spanprof_session_start(&start->options, &session);
  return NULL;
}

static VALUE start_wait(VALUE start) {
  return (VALUE)rb_thread_call_without_gvl(start_run, (void *)start, NULL,
                                           NULL);
}

static void *check_run(void *data) {
  session_start *start = data;

  start->status = spanprof_options_check(&start->options);
  return NULL;
}

NORETURN(static void start_refuse(spanprof_status status, VALUE message));

static void start_refuse(spanprof_status status, VALUE message) {
  rb_raise(status == SPANPROF_ERR_DISABLED ? session_disabled : rb_sp_error,
           "%" PRIsVALUE, message);
}

VALUE sp_control_check(const sp_control_options *options) {
  session_start check = {.options = options->core};

  rb_thread_call_without_gvl(check_run, &check, NULL, NULL);
  if (check.status)
    start_refuse(check.status, rb_utf8_str_new_cstr(spanprof_last_error()));
  return Qtrue;
}

/* Returns the lowest level of the lines to log. The options have it, or else
 * the environment variable PYROSCOPE_LOG_LEVEL. Returns nil if neither has a
 * level. */
VALUE sp_control_level(const sp_control_options *options) {
  const char *text = getenv("PYROSCOPE_LOG_LEVEL");
  int64_t level = options->core.log_level;

  if (level == SPANPROF_UNSET &&
      (!text || !sp_option_name(SP_OPTION_LEVEL, text, &level)))
    return Qnil;
  return LL2NUM(level);
}

/* Start a session. Returns true, or false if another session runs. */
VALUE sp_control_start(const sp_control_options *options) {
  session_start start = {.options = options->core,
                         .status = SPANPROF_ERR_STATE};
  VALUE message = Qnil;
  int interrupt = 0, released = 0;

  start.options.log = rb_sp_log_write;
  rb_sp_runtime_retain();
  rb_protect(start_wait, (VALUE)&start, &interrupt);
  if (start.status) {
    message = rb_utf8_str_new_cstr(spanprof_last_error());
    released = rb_sp_runtime_release();
  }
  if (interrupt || released)
    rb_jump_tag(released ? released : interrupt);
  if (start.status && start.status != SPANPROF_ERR_STATE)
    start_refuse(start.status, message);
  return start.status ? Qfalse : Qtrue;
}

typedef struct session_sample {
  spanprof_status (*sample)(spanprof_session *session);
  spanprof_status status;
} session_sample;

static void *sample_run(void *data) {
  session_sample *call = data;

  call->status = call->sample(spanprof_session_current());
  return NULL;
}

/* Pause or resume the session with the function `sample`. Releases the GVL,
 * because access to the session waits for a start or stop that is under way.
 * Returns true, or nil if no session runs. */
static VALUE sample_call(spanprof_status (*sample)(spanprof_session *)) {
  session_sample call = {.sample = sample, .status = SPANPROF_ERR_STATE};

  if (spanprof_session_running())
    rb_thread_call_without_gvl(sample_run, &call, NULL, NULL);
  return call.status ? Qnil : Qtrue;
}

VALUE sp_control_pause(void) {
  return sample_call(spanprof_session_pause);
}

VALUE sp_control_resume(void) {
  return sample_call(spanprof_session_resume);
}

VALUE sp_control_running(void) {
  return spanprof_session_running() ? Qtrue : Qfalse;
}

/* call-seq: main_ractor? -> true or false */
static VALUE native_main_ractor_p(VALUE self) {
  (void)self;
  return rb_sp_ractor_is_main() ? Qtrue : Qfalse;
}

void rb_sp_session_init(void) {
  session_disabled =
      rb_define_class_under(rb_path2class("Spanprof"), "Disabled", rb_sp_error);
  rb_gc_register_mark_object(session_disabled);
  rb_define_singleton_method(rb_sp_native, "flush_once", native_flush_once, 1);
  rb_define_singleton_method(rb_sp_native, "finish", native_finish, 1);
  rb_ext_ractor_safe(true);
  rb_define_singleton_method(rb_sp_native, "finish_elsewhere",
                             native_finish_elsewhere, 1);
  rb_define_singleton_method(rb_sp_native, "main_ractor?", native_main_ractor_p,
                             0);
  rb_ext_ractor_safe(false);
}
