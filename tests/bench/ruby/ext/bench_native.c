/* What Ruby cannot do by itself: a thread that Ruby knows nothing of, a sleep
 * that keeps the VM's lock, and signals that a thread sends itself, with the
 * value of one of our timers, or to a handler that only counts. */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <ruby.h>
#include <ruby/thread.h>

#define NATIVE_NS_PER_S 1000000000

typedef struct burner {
  uint64_t wanted_ns;
  uint64_t cpu_ns;
} burner;

static volatile uint64_t native_sink;
static volatile sig_atomic_t native_count;

static uint64_t clock_ns(clockid_t clock) {
  struct timespec now;

  clock_gettime(clock, &now);
  return (uint64_t)now.tv_sec * NATIVE_NS_PER_S + (uint64_t)now.tv_nsec;
}

/* Its name is what samples are recognised by. */
__attribute__((noinline)) static uint64_t
bench_native_burn(uint64_t wanted_ns) {
  uint64_t begin_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID), now_ns;
  int i;

  do {
    for (i = 0; i < 2000; i++)
      native_sink += (uint64_t)i;
    now_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
  } while (now_ns - begin_ns < wanted_ns);
  return now_ns - begin_ns;
}

static void *burner_run(void *data) {
  burner *b = data;

  b->cpu_ns = bench_native_burn(b->wanted_ns);
  return NULL;
}

static void *burner_join(void *data) {
  pthread_join(*(pthread_t *)data, NULL);
  return NULL;
}

/* burn_apart(seconds): the CPU seconds that a pthread used. */
static VALUE native_burn_apart(VALUE self, VALUE seconds) {
  burner b = {.wanted_ns = (uint64_t)(NUM2DBL(seconds) * NATIVE_NS_PER_S)};
  pthread_t thread;

  (void)self;
  if (pthread_create(&thread, NULL, burner_run, &b) != 0)
    rb_sys_fail("pthread_create");
  rb_thread_call_without_gvl(burner_join, &thread, NULL, NULL);
  return DBL2NUM((double)b.cpu_ns / NATIVE_NS_PER_S);
}

/* hold(seconds): sleeps, and lets no other Ruby thread run. */
static VALUE native_hold(VALUE self, VALUE seconds) {
  uint64_t left_ns = (uint64_t)(NUM2DBL(seconds) * NATIVE_NS_PER_S);
  struct timespec pause = {.tv_sec = (time_t)(left_ns / NATIVE_NS_PER_S),
                           .tv_nsec = (long)(left_ns % NATIVE_NS_PER_S)};

  (void)self;
  while (nanosleep(&pause, &pause) != 0)
    ;
  return Qnil;
}

static void counting_handler(int number, siginfo_t *info, void *ucontext) {
  (void)number, (void)info, (void)ucontext;
  native_count++;
}

/* count(signal): installs a handler that only counts. */
static VALUE native_count_install(VALUE self, VALUE number) {
  struct sigaction action;

  (void)self;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = counting_handler;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  if (sigaction(NUM2INT(number), &action, NULL) != 0)
    rb_sys_fail("sigaction");
  return Qnil;
}

/* catch(signal): the value that this thread's timer sends with its signal,
 * waited for with CPU time. */
static VALUE native_catch(VALUE self, VALUE number) {
  const struct timespec now = {0, 0};
  sigset_t ours, before;
  siginfo_t info;

  (void)self;
  sigemptyset(&ours);
  sigaddset(&ours, NUM2INT(number));
  pthread_sigmask(SIG_BLOCK, &ours, &before);
  do
    bench_native_burn(1000000);
  while (sigtimedwait(&ours, &info, &now) != NUM2INT(number));
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return ULL2NUM((uintptr_t)info.si_value.sival_ptr);
}

/* send(signal, value): the ns from sending this thread the signal, as a timer
 * does, until its handler has returned. */
static VALUE native_send(VALUE self, VALUE number, VALUE value) {
  pid_t pid = getpid(), tid = (pid_t)syscall(SYS_gettid);
  uint64_t begin_ns, end_ns;
  siginfo_t info;

  (void)self;
  memset(&info, 0, sizeof info);
  info.si_signo = NUM2INT(number);
  info.si_code = SI_TIMER;
  info.si_value.sival_ptr = (void *)(uintptr_t)NUM2ULL(value);
  begin_ns = clock_ns(CLOCK_MONOTONIC);
  syscall(SYS_rt_tgsigqueueinfo, pid, tid, info.si_signo, &info);
  end_ns = clock_ns(CLOCK_MONOTONIC);
  return ULL2NUM(end_ns - begin_ns);
}

static void *gvl_nothing(void *data) {
  return data;
}

/* give_up(count): the CPU ns of this thread that giving up the VM's lock, and
 * taking it again, takes each time. */
static VALUE native_give_up(VALUE self, VALUE count) {
  long left = NUM2LONG(count), i;
  uint64_t begin_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);

  (void)self;
  for (i = 0; i < left; i++)
    rb_thread_call_without_gvl(gvl_nothing, NULL, NULL, NULL);
  return DBL2NUM((double)(clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns) /
                 (double)left);
}

RUBY_FUNC_EXPORTED void Init_bench_native(void);

void Init_bench_native(void) {
  VALUE native = rb_define_module("BenchNative");

  rb_define_singleton_method(native, "burn_apart", native_burn_apart, 1);
  rb_define_singleton_method(native, "hold", native_hold, 1);
  rb_define_singleton_method(native, "count", native_count_install, 1);
  rb_define_singleton_method(native, "catch", native_catch, 1);
  rb_define_singleton_method(native, "send", native_send, 2);
  rb_define_singleton_method(native, "give_up", native_give_up, 1);
}
