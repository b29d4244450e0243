#include <pthread.h>
#include <unistd.h>

#include "check.h"
#include "sampler/handler/stack_top.h"

/* Only these platforms have glibc's x86-64 layout of thread data, and no
 * sanitizer that adds frames outside those of the thread's function. */
#if defined(__GLIBC__) && defined(__x86_64__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define TOP_LEARNS 1
#else
#define TOP_LEARNS 0
#endif

typedef struct stack_seen {
  uint64_t low;
  uint64_t high;
  uint64_t tp;
  uint64_t frame; /* address of the thread's first frame */
  uint64_t top;
} stack_seen;

static void bounds_read(stack_seen *seen) {
  pthread_attr_t attributes;
  void *low;
  size_t size;

  CHECK_EQUAL(pthread_getattr_np(pthread_self(), &attributes), 0);
  CHECK_EQUAL(pthread_attr_getstack(&attributes, &low, &size), 0);
  pthread_attr_destroy(&attributes);
  seen->low = (uint64_t)(uintptr_t)low;
  seen->high = seen->low + size;
  seen->tp = (uint64_t)(uintptr_t)__builtin_thread_pointer();
  seen->top = sp_stack_top(seen->tp, seen->low, seen->high);
}

static void *thread_measure(void *data) {
  stack_seen *seen = data;

  seen->frame = (uint64_t)(uintptr_t)__builtin_frame_address(0);
  bounds_read(seen);
  return NULL;
}

static void *thread_learn(void *data) {
  (void)data;
  sp_stack_top_measure();
  return NULL;
}

static stack_seen thread_run(void *(*run)(void *), size_t stack_bytes) {
  stack_seen seen = {0};
  pthread_attr_t attributes;
  pthread_t thread;

  pthread_attr_init(&attributes);
  CHECK_EQUAL(pthread_attr_setstacksize(&attributes, stack_bytes), 0);
  CHECK_EQUAL(pthread_create(&thread, &attributes, run, &seen), 0);
  pthread_join(thread, NULL);
  pthread_attr_destroy(&attributes);
  return seen;
}

/* This test must run first, because the measurement cannot be undone. */
static void without_measurement_only_the_control_block_is_excluded(void) {
  stack_seen seen = thread_run(thread_measure, 256 * 1024);

  CHECK(seen.top == seen.tp);
}

static void measured_top_is_just_above_the_first_frame(void) {
  static const size_t sizes[] = {64 * 1024, 256 * 1024, 8 * 1024 * 1024};
  size_t i;

  thread_run(thread_learn, 512 * 1024);
  for (i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    stack_seen seen = thread_run(thread_measure, sizes[i]);

    /* The top leaves space for the frame of the caller of the thread's
     * function. */
    CHECK(seen.top > seen.frame + 256);
    CHECK(seen.top <= seen.tp);
#if TOP_LEARNS
    CHECK(seen.top < seen.frame + 2048);
    CHECK(seen.tp - seen.top > 512);
#endif
  }
}

static void main_stack_ends_below_the_environment(void) {
  uint64_t here = (uint64_t)(uintptr_t)__builtin_frame_address(0);
  stack_seen seen;

  bounds_read(&seen);
  CHECK(seen.top > here);
  CHECK(seen.top <= seen.high);
  CHECK(environ[0] && seen.top <= (uint64_t)(uintptr_t)environ[0]);
}

static void other_stacks_are_not_cut(void) {
  CHECK_EQUAL(sp_stack_top(0x1000, 0x20000, 0x30000), 0x30000);
  CHECK_EQUAL(sp_stack_top(0x40000, 0x20000, 0x30000), 0x30000);
}

static const check_test tests[] = {
    {"without_measurement_only_the_control_block_is_excluded",
     without_measurement_only_the_control_block_is_excluded},
    {"measured_top_is_just_above_the_first_frame",
     measured_top_is_just_above_the_first_frame},
    {"main_stack_ends_below_the_environment",
     main_stack_ends_below_the_environment},
    {"other_stacks_are_not_cut", other_stacks_are_not_cut},
};

int main(int argc, char **argv) {
  return check_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
