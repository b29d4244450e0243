/* Stacks for tests of unwinding, captured in a signal handler, as the sampler
 * does. */
#ifndef UNWIND_FIXTURE_H
#define UNWIND_FIXTURE_H

#include <pthread.h>
#include <signal.h>
#include <string.h>

#include "check.h"
#include "unwind/unwinder.h"

#define CAPTURE_BYTES  65536
#define CAPTURE_SIGNAL (SIGRTMIN + 5)

typedef struct capture {
  sp_stack_slice slice;
  uint64_t stack_limit; /* outer end of the captured stack */
  _Alignas(8) char bytes[CAPTURE_BYTES];
} capture;

static capture *capture_into;

__attribute__((no_sanitize("address", "thread"))) static void
capture_bytes(char *to, uint64_t from, size_t size) {
  size_t i;

  for (i = 0; i < size; i++)
    to[i] = *(const volatile char *)(uintptr_t)(from + i);
}

static void capture_on_signal(int number, siginfo_t *info, void *ucontext) {
  sp_stack_slice *slice = &capture_into->slice;
  uint64_t size;

  (void)number;
  (void)info;
  sp_registers_read(&slice->registers, ucontext);
  slice->base =
      (slice->registers.r[SP_REGISTER_SP] - SP_RED_ZONE_BYTES) & ~UINT64_C(7);
  size = capture_into->stack_limit - slice->base;
  slice->whole = size <= CAPTURE_BYTES;
  slice->size = (size_t)sp_min_u64(size, CAPTURE_BYTES);
  slice->bytes = capture_into->bytes;
  capture_bytes(capture_into->bytes, slice->base, slice->size);
}

/* Prepare the next capture_now() of this thread, which fills `to`. */
static inline void capture_begin(capture *to) {
  struct sigaction action = {.sa_sigaction = capture_on_signal,
                             .sa_flags = SA_SIGINFO};
  pthread_attr_t attributes;
  void *start;
  size_t size;

  CHECK_EQUAL(pthread_getattr_np(pthread_self(), &attributes), 0);
  CHECK_EQUAL(pthread_attr_getstack(&attributes, &start, &size), 0);
  pthread_attr_destroy(&attributes);
  memset(&to->slice, 0, sizeof to->slice);
  to->stack_limit = (uint64_t)(uintptr_t)start + size;
  capture_into = to;
  CHECK_EQUAL(sigaction(CAPTURE_SIGNAL, &action, NULL), 0);
}

static inline void capture_now(void) {
  CHECK_EQUAL(raise(CAPTURE_SIGNAL), 0);
}

/* The index of the first frame in `function`, which is found by name, or in a
 * clone that the compiler made of it ("function.constprop.0"). Returns -1 if
 * there is none. */
static inline int frame_of(sp_unwinder *unwinder, const sp_native_frame *frames,
                           size_t count, const char *function) {
  const size_t length = strlen(function);
  size_t i;

  for (i = 0; i < count; i++) {
    const char *name;
    uint64_t start;

    if (sp_unwinder_symbol(unwinder, frames[i].module, frames[i].address, &name,
                           &start) &&
        strncmp(name, function, length) == 0 &&
        (name[length] == '\0' || name[length] == '.'))
      return (int)i;
  }
  return -1;
}

#endif
