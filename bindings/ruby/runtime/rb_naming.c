#include "rb_naming.h"

#include <ruby.h>
#include <ruby/thread.h>
#include <semaphore.h>
#include <signal.h>
#include <spanprof/runtime.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "base/rb_base.h"
#include "rb_log.h"
#include "rb_sigprof.h"
#include "util/system/clock.h"
#include "vm/rb_code_table.h"
#include "vm/rb_thread_table.h"
#include "vm/rb_vm_layout.h"

/* Number of names to resolve before other Ruby threads may run. Each name takes
 * about 3 us. */
#define NAMING_BATCH 128

/* Interval of the sweeps that remove old code, and so the minimum time for
 * which code is kept after a sample has seen it. This is longer than a frame
 * waits for its name, because the collector requests names every second and a
 * sweep runs only if no frame waits. */
#define NAMING_SWEEP_S 20

/* Interval of the checks for a deadlock, and the maximum number of Ruby threads
 * for which they are done. */
#define NAMING_LOOK_S      1
#define NAMING_WAITERS_MAX 256

/* One for the process, because there is one runtime. */
static struct {
  sem_t requests;
  /* `requests` was posted, and the naming thread has not handled the request */
  _Atomic bool requested;
  /* between rb_sp_naming_start() and rb_sp_naming_stop() */
  _Atomic bool started;
  _Atomic bool running; /* the naming thread runs */
  _Atomic bool stopping;
  /* the naming thread sleeps until naming_return() wakes it */
  _Atomic bool asleep;
  _Atomic bool
      ending;  /* Ruby is about to end all threads and to wait for them */
  bool failed; /* no thread could be created, and this was logged */
  VALUE thread;
  VALUE thread_methods; /* module that replaces join and value of `thread` */
  VALUE log_thread;     /* the thread that delivers log lines */
  /* A thread that was awake at the last check for a deadlock. The next check
   * looks at this thread first: a check runs whenever a thread ends, and
   * looking at 250 threads takes 0.3 ms. */
  VALUE last_awake;
  bool hooked;
  bool all_waited; /* when a thread ended, all others were waiting */
  uint64_t all_waited_cpu_ns;
  uint64_t swept_s;
} naming;

static uint64_t now_s(void) {
  return sp_monotonic_ns() / SP_NS_PER_S;
}

/* Wait for a request for names, for NAMING_LOOK_S at most. Sets *data to
 * whether there was a request. */
static void *request_wait(void *data) {
  bool *requested = data;
  struct timespec until;

  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += NAMING_LOOK_S;
  *requested = sem_timedwait(&naming.requests, &until) == 0;
  return NULL;
}

/* Wake the naming thread, because it has an interrupt (kill, exit). */
static void request_wake(void *data) {
  (void)data;
  sem_post(&naming.requests);
}

/* Remove old code and threads from the tables. Called when no frame waits for a
 * name, because a waiting frame needs its code. */
static void naming_sweep(void) {
  uint64_t now = now_s();

  if (now - naming.swept_s < NAMING_SWEEP_S)
    return;
  rb_sp_threads_sweep();
  if (rb_sp_code_sweep())
    naming.swept_s = now;
}

/* Returns whether a thread sleeps until another thread wakes it. Ruby uses the
 * state "sleep_forever" only for sleeps that neither a signal nor a timeout
 * ends. */
static bool thread_waits(VALUE thread) {
  static const char waiting[] = " sleep_forever>";
  const size_t length = sizeof waiting - 1;
  VALUE text;

  if (!RTEST(rb_funcallv(thread, rb_intern("stop?"), 0, NULL)))
    return false;
  text = rb_funcallv(thread, rb_intern("to_s"), 0, NULL);
  return RB_TYPE_P(text, T_STRING) && (size_t)RSTRING_LEN(text) >= length &&
         memcmp(RSTRING_END(text) - length, waiting, length) == 0;
}

/* Returns the CPU time that a thread has used, or 0 if it has no native thread.
 */
static uint64_t thread_cpu_ns(VALUE thread) {
  VALUE tid = rb_funcallv(thread, rb_intern("native_thread_id"), 0, NULL);
  struct timespec used = {0};

  /* Compute the clock id from the kernel's thread id, as clock_getcpuclockid(3)
   * does for a process. The bits are those of linux/posix-timers.h for a
   * thread's scheduler clock. */
  if (FIXNUM_P(tid))
    clock_gettime((clockid_t)((~(unsigned)FIX2INT(tid) << 3) | 6), &used);
  return (uint64_t)used.tv_sec * SP_NS_PER_S + (uint64_t)used.tv_nsec;
}

/* The threads that sleep until another thread wakes them. */
typedef struct naming_waiters {
  VALUE ignored;   /* a thread to ignore, in addition to the naming thread */
  uint64_t cpu_ns; /* CPU time that these threads have used together */
} naming_waiters;

/* Returns true if each thread, except the ignored ones, waits for another one.
 * May raise. */
static VALUE waiters_look(VALUE data) {
  naming_waiters *waiters = (naming_waiters *)data;
  VALUE list;
  long i;

  if (naming.last_awake != waiters->ignored &&
      RTEST(rb_funcallv(naming.last_awake, rb_intern("alive?"), 0, NULL)) &&
      !thread_waits(naming.last_awake))
    return Qfalse;
  list = rb_funcallv(rb_cThread, rb_intern("list"), 0, NULL);
  if (RARRAY_LEN(list) > NAMING_WAITERS_MAX)
    return Qfalse;
  for (i = 0; i < RARRAY_LEN(list); i++) {
    VALUE thread = RARRAY_AREF(list, i);

    if (thread == naming.thread || thread == waiters->ignored)
      continue;
    if (!thread_waits(thread)) {
      naming.last_awake = thread;
      return Qfalse;
    }
    waiters->cpu_ns += thread_cpu_ns(thread);
  }
  return Qtrue;
}

static bool waiters_all(naming_waiters *waiters) {
  return RTEST(rb_sp_guard(waiters_look, (VALUE)waiters));
}

/* Ruby calls this hook on a thread that ends. If all other threads wait for
 * another one, Ruby itself does not report a deadlock here, because a signal
 * handler may wake them. Neither must the naming thread cause such a report. So
 * note the CPU time of the waiting threads: as long as it stays the same,
 * naming_hides_deadlock() returns false. */
static void naming_thread_ends(rb_event_flag_t event, VALUE data, VALUE self,
                               ID id, VALUE klass) {
  naming_waiters waiters = {.ignored = rb_thread_current()};

  (void)event, (void)data, (void)self, (void)id, (void)klass;
  if (!rb_sp_ractor_is_main() || waiters.ignored == naming.thread ||
      waiters.ignored == naming.log_thread || !waiters_all(&waiters))
    return;
  naming.all_waited = true;
  naming.all_waited_cpu_ns = waiters.cpu_ns;
}

/* Returns whether the naming thread hides a deadlock from Ruby. Ruby reports a
 * deadlock when a thread begins to wait for another one and all others already
 * wait. The naming thread usually sleeps in another way, so Ruby finds no
 * deadlock. */
static bool naming_hides_deadlock(void) {
  naming_waiters waiters = {.ignored = Qnil};

  if (!waiters_all(&waiters)) {
    naming.all_waited = false;
    return false;
  }
  return !naming.all_waited || naming.all_waited_cpu_ns != waiters.cpu_ns;
}

/* Sleep as a Ruby thread does that waits for another one, so that Ruby finds
 * the deadlock. New names are needed only if Ruby code runs again, and
 * naming_return() then wakes this thread. */
static void naming_sleep(void) {
  atomic_store(&naming.asleep, true);
  if (sem_trywait(&naming.requests) != 0)
    rb_thread_sleep_deadly();
  atomic_store(&naming.asleep, false);
}

void rb_sp_naming_all(void) {
  while (spanprof_runtime_resolve(NAMING_BATCH) > 0)
    ;
  rb_sp_code_promote();
}

static VALUE naming_run(void *data) {
  bool requested;

  (void)data;
  while (!atomic_load(&naming.stopping)) {
    rb_nogvl(request_wait, &requested, request_wake, NULL,
             RB_NOGVL_UBF_ASYNC_SAFE);
    rb_thread_check_ints();
    atomic_store(&naming.requested, false);
    if (atomic_load(&naming.stopping))
      break;
    while (spanprof_runtime_resolve(NAMING_BATCH) > 0)
      rb_thread_check_ints();
    rb_sp_code_promote();
    naming_sweep();
    rb_sp_log_deliver();
    if (!requested && naming_hides_deadlock())
      naming_sleep();
  }
  return Qnil;
}

static VALUE naming_end(VALUE data) {
  rb_sp_sigprof_unblock(data);
  spanprof_thread_exclude(0);
  atomic_store(&naming.asleep, false);
  atomic_store(&naming.running, false);
  return Qnil;
}

static VALUE naming_body(VALUE data) {
  const VALUE self = rb_thread_current();

  spanprof_thread_exclude(1);
  rb_funcall(self, rb_intern("thread_variable_set"), 2,
             ID2SYM(rb_intern("fork_safe")), Qtrue);
  rb_funcall(self, rb_intern("report_on_exception="), 1, Qfalse);
  rb_funcall(self, rb_intern("name="), 1, rb_str_new_cstr("spanprof"));
  return naming_run((void *)data);
}

static VALUE naming_ensured(VALUE yielded, VALUE data, int argc,
                            const VALUE *argv, VALUE block) {
  (void)yielded, (void)argc, (void)argv, (void)block;
  return rb_ensure(naming_body, data, naming_end, rb_sp_sigprof_block());
}

/* A new thread inherits the interrupt mask of its creator. Remove the mask,
 * because under a mask that blocks all interrupts nobody could end this thread.
 */
static VALUE naming_main(void *data) {
  const VALUE mask = rb_hash_new();

  rb_hash_aset(mask, rb_cObject, ID2SYM(rb_intern("immediate")));
  return rb_block_call(rb_cThread, rb_intern("handle_interrupt"), 1, &mask,
                       naming_ensured, (VALUE)data);
}

/* Replaces Thread#join of the naming thread. A program that joins all threads
 * would otherwise wait forever. */
static VALUE naming_join(int argc, VALUE *argv, VALUE thread) {
  (void)argc, (void)argv;
  return thread;
}

static VALUE naming_value(VALUE thread) {
  (void)thread;
  return Qnil;
}

/* Create the naming thread. Other method calls are not allowed here: they would
 * raise a pending interrupt of the program's thread, for example a signal, and
 * naming_begin() would discard it. */
static VALUE thread_create(VALUE data) {
  (void)data;
  naming.thread = rb_thread_create(naming_main, NULL);
  rb_extend_object(naming.thread, naming.thread_methods);
  return Qnil;
}

static void naming_begin(void) {
  VALUE error = rb_errinfo();
  int state = 0;

  if (atomic_exchange(&naming.running, true))
    return;
  atomic_store(&naming.stopping, false);
  atomic_store(&naming.requested, false);
  naming.swept_s = now_s();
  rb_protect(thread_create, Qnil, &state);
  if (!state)
    return;
  rb_set_errinfo(error);
  atomic_store(&naming.running, false);
  if (!naming.failed)
    rb_sp_log_write(NULL, SPANPROF_LOG_WARN,
                    "no Ruby thread can be started, so frames get their names "
                    "only when profiles are flushed");
  naming.failed = true;
}

/* Wake or restart the naming thread. Ruby calls this on a thread of the
 * program, between two instructions. */
static void naming_return(void *data) {
  (void)data;
  if (!atomic_load(&naming.started) || atomic_load(&naming.ending))
    return;
  if (atomic_load(&naming.asleep))
    rb_thread_wakeup_alive(naming.thread);
  else
    naming_begin();
}

/* Runs as one of the last at_exit handlers. */
static void naming_last(VALUE data) {
  (void)data;
  atomic_store(&naming.ending, true);
}

void rb_sp_naming_init(void) {
  sem_init(&naming.requests, 0, 0);
  naming.thread = Qnil;
  naming.log_thread = Qnil;
  naming.last_awake = rb_thread_main();
  naming.thread_methods = rb_module_new();
  rb_define_method(naming.thread_methods, "join", naming_join, -1);
  rb_define_method(naming.thread_methods, "value", naming_value, 0);
  rb_gc_register_mark_object(naming.thread_methods);
  rb_gc_register_address(&naming.thread);
  rb_gc_register_address(&naming.log_thread);
  rb_gc_register_address(&naming.last_awake);
  rb_sp_vm_job_init(naming_return);
  rb_set_end_proc(naming_last, Qnil);
}

void rb_sp_naming_start(void) {
  if (!naming.hooked)
    rb_add_event_hook(naming_thread_ends, RUBY_EVENT_THREAD_END, Qnil);
  naming.hooked = true;
  naming.failed = false;
  atomic_store(&naming.started, true);
  naming_begin();
}

static VALUE thread_join(VALUE data) {
  VALUE join = rb_funcall(rb_cThread, rb_intern("instance_method"), 1,
                          ID2SYM(rb_intern("join")));

  (void)data;
  return rb_funcall(join, rb_intern("bind_call"), 2, naming.thread,
                    DBL2NUM(1.0));
}

static void naming_unhook(void) {
  if (naming.hooked)
    rb_remove_event_hook(naming_thread_ends);
  naming.hooked = false;
  atomic_store(&naming.started, false);
}

int rb_sp_naming_stop(void) {
  int interrupt = 0;

  naming_unhook();
  if (!atomic_load(&naming.running) || NIL_P(naming.thread))
    return 0;
  atomic_store(&naming.stopping, true);
  sem_post(&naming.requests);
  if (atomic_load(&naming.asleep))
    rb_thread_wakeup_alive(naming.thread);
  rb_protect(thread_join, Qnil, &interrupt);
  naming.thread = Qnil;
  return interrupt;
}

void rb_sp_naming_log_thread(void) {
  naming.log_thread = rb_thread_current();
}

void rb_sp_naming_request(void *data) {
  (void)data;
  if (!atomic_load(&naming.running) || atomic_load(&naming.asleep)) {
    if (atomic_load(&naming.started) && !atomic_load(&naming.ending))
      rb_sp_vm_job_trigger();
  } else if (!atomic_exchange(&naming.requested, true)) {
    sem_post(&naming.requests);
  }
}

void rb_sp_naming_forget(void) {
  naming_unhook();
  atomic_store(&naming.running, false);
  atomic_store(&naming.asleep, false);
  sem_init(&naming.requests, 0, 0);
  naming.thread = Qnil;
  naming.last_awake = rb_thread_main();
}
