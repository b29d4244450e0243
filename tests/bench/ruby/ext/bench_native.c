/* Functions that Ruby does not have: work on a thread that Ruby does not know,
 * a sleep without releasing the VM's lock, and releasing and acquiring that
 * lock. */
#include <pthread.h>
#include <stdint.h>
#include <time.h>

#include <ruby.h>
#include <ruby/thread.h>

#define NATIVE_NS_PER_S 1000000000

typedef struct burner {
  uint64_t wanted_ns;
  uint64_t cpu_ns;
} burner;

static volatile uint64_t native_sink;

static uint64_t clock_ns(clockid_t clock) {
  struct timespec now;

  clock_gettime(clock, &now);
  return (uint64_t)now.tv_sec * NATIVE_NS_PER_S + (uint64_t)now.tv_nsec;
}

/* Samples are recognized by this function's name. */
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

/* burn_apart(seconds): work on a new pthread. Returns the CPU seconds that it
 * used. */
static VALUE native_burn_apart(VALUE self, VALUE seconds) {
  burner b = {.wanted_ns = (uint64_t)(NUM2DBL(seconds) * NATIVE_NS_PER_S)};
  pthread_t thread;

  (void)self;
  if (pthread_create(&thread, NULL, burner_run, &b) != 0)
    rb_sys_fail("pthread_create");
  rb_thread_call_without_gvl(burner_join, &thread, NULL, NULL);
  return DBL2NUM((double)b.cpu_ns / NATIVE_NS_PER_S);
}

/* hold(seconds): sleep without releasing the VM's lock, so that other Ruby
 * threads cannot run. */
static VALUE native_hold(VALUE self, VALUE seconds) {
  uint64_t left_ns = (uint64_t)(NUM2DBL(seconds) * NATIVE_NS_PER_S);
  struct timespec pause = {.tv_sec = (time_t)(left_ns / NATIVE_NS_PER_S),
                           .tv_nsec = (long)(left_ns % NATIVE_NS_PER_S)};

  (void)self;
  while (nanosleep(&pause, &pause) != 0)
    ;
  return Qnil;
}

static void *gvl_nothing(void *data) {
  return data;
}

/* give_up(count): release and acquire the VM's lock `count` times. Returns the
 * mean CPU time of the thread in ns. */
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
  rb_define_singleton_method(native, "give_up", native_give_up, 1);
}
