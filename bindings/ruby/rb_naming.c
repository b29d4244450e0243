#include "rb_naming.h"

#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>

#include <ruby.h>
#include <ruby/thread.h>

#include <spanprof/spanprof.h>

#include "rb_code_table.h"
#include "rb_thread_table.h"

/* Names asked for in a row before other Ruby threads get their turn: some 3 us
 * each. */
#define NAMING_BATCH 128

/* Between sweeps, and so the least time that code is kept after it was seen.
 * Longer than a frame waits for its name: the collector asks once a second, and
 * a sweep comes only when none waits. */
#define NAMING_SWEEP_S 20

/* Process-wide, because there is one runtime. */
static struct {
  sem_t wanted;
  _Atomic bool asked; /* posted and not yet seen */
  _Atomic bool running;
  _Atomic bool stopping;
  VALUE thread;
  time_t swept_s;
} naming;

static time_t now_s(void) {
  struct timespec now;

  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec;
}

void rb_sp_naming_want(void *data) {
  (void)data;
  if (!atomic_exchange(&naming.asked, true))
    sem_post(&naming.wanted);
}

static void *wanted_wait(void *data) {
  (void)data;
  sem_wait(&naming.wanted);
  return NULL;
}

/* Wakes the thread for an interrupt (kill, exit). */
static void wanted_wake(void *data) {
  (void)data;
  sem_post(&naming.wanted);
}

/* What waits keeps its code; only then may a sweep drop any. */
static void naming_sweep(void) {
  time_t now = now_s();

  if (now - naming.swept_s < NAMING_SWEEP_S)
    return;
  rb_sp_threads_sweep();
  if (rb_sp_code_sweep())
    naming.swept_s = now;
}

void rb_sp_naming_all(void) {
  while (spanprof_runtime_resolve(NAMING_BATCH) > 0)
    ;
  rb_sp_code_settle();
}

static VALUE naming_run(void *data) {
  (void)data;
  while (!atomic_load(&naming.stopping)) {
    rb_nogvl(wanted_wait, NULL, wanted_wake, NULL, RB_NOGVL_UBF_ASYNC_SAFE);
    rb_thread_check_ints();
    atomic_store(&naming.asked, false);
    if (atomic_load(&naming.stopping))
      break;
    while (spanprof_runtime_resolve(NAMING_BATCH) > 0)
      rb_thread_check_ints();
    rb_sp_code_settle();
    naming_sweep();
  }
  return Qnil;
}

static VALUE naming_end(VALUE data) {
  (void)data;
  spanprof_thread_exclude(0);
  atomic_store(&naming.running, false);
  return Qnil;
}

static VALUE naming_body(VALUE data) {
  spanprof_thread_exclude(1);
  return naming_run((void *)data);
}

static VALUE naming_main(void *data) {
  return rb_ensure(naming_body, (VALUE)data, naming_end, Qnil);
}

static VALUE thread_create(VALUE data) {
  (void)data;
  naming.thread = rb_thread_create(naming_main, NULL);
  rb_funcall(naming.thread, rb_intern("name="), 1, rb_str_new_cstr("spanprof"));
  rb_funcall(naming.thread, rb_intern("thread_variable_set"), 2,
             ID2SYM(rb_intern("fork_safe")), Qtrue);
  rb_funcall(naming.thread, rb_intern("report_on_exception="), 1, Qfalse);
  return Qnil;
}

void rb_sp_naming_init(void) {
  sem_init(&naming.wanted, 0, 0);
  naming.thread = Qnil;
  rb_gc_register_address(&naming.thread);
}

void rb_sp_naming_start(void) {
  int state = 0;

  if (atomic_exchange(&naming.running, true))
    return;
  atomic_store(&naming.stopping, false);
  atomic_store(&naming.asked, false);
  naming.swept_s = now_s();
  rb_protect(thread_create, Qnil, &state);
  if (state) {
    rb_set_errinfo(Qnil);
    atomic_store(&naming.running, false);
  }
}

static VALUE thread_join(VALUE data) {
  (void)data;
  return rb_funcall(naming.thread, rb_intern("join"), 1, DBL2NUM(1.0));
}

int rb_sp_naming_stop(void) {
  int interrupt = 0;

  if (!atomic_load(&naming.running) || NIL_P(naming.thread))
    return 0;
  atomic_store(&naming.stopping, true);
  sem_post(&naming.wanted);
  rb_protect(thread_join, Qnil, &interrupt);
  naming.thread = Qnil;
  return interrupt;
}

void rb_sp_naming_after_fork(void) {
  bool ran = atomic_exchange(&naming.running, false);

  sem_init(&naming.wanted, 0, 0);
  naming.thread = Qnil;
  if (ran)
    rb_sp_naming_start();
}
