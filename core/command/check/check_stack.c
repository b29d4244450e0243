#include "check_stack.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "unwind/unwinder.h"

#define CHECK_SLICE_BYTES 32768
#define CHECK_FRAMES_MAX  64

/* The copy of the stack, which the signal handler makes. It is global, because
 * raise() passes no pointer to the handler. */
static struct check_slice {
  sp_registers registers;
  uint64_t limit; /* end of the thread's stack; set before the signal */
  uint64_t base;
  size_t size;
  _Alignas(8) unsigned char bytes[CHECK_SLICE_BYTES];
} check_slice;

/* The signal handler: copies registers and stack of the interrupted thread, up
 * to the end of the stack. Signal-safe. */
SP_SIGNAL_SAFE SP_NO_SANITIZE static void
check_on_signal(int number, siginfo_t *info, void *ucontext) {
  const volatile unsigned char *from;
  uint64_t left;
  size_t i;

  (void)number;
  (void)info;
  sp_registers_read(&check_slice.registers, ucontext);
  check_slice.base =
      (check_slice.registers.r[SP_REGISTER_SP] - SP_RED_ZONE_BYTES) &
      ~UINT64_C(7);
  left = check_slice.limit - check_slice.base;
  check_slice.size = (size_t)sp_min_u64(left, CHECK_SLICE_BYTES);
  from = (const volatile unsigned char *)(uintptr_t)check_slice.base;
  for (i = 0; i < check_slice.size; i++)
    check_slice.bytes[i] = from[i];
}

static int check_compare(const void *a, const void *b) {
  const int *number = a;

  (void)b;
  if (check_slice.size == 0)
    raise(*number);
  return 0;
}

/* Raise the signal in a function that qsort() calls, so that the stack contains
 * a function that every C library exports. Returns false if no stack was
 * copied. */
static bool check_capture(int number) {
  int numbers[2] = {number, number};
  struct sigaction ours, before;
  pthread_attr_t attributes;
  void *lowest;
  size_t size;

  check_slice.size = 0;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0)
    return false;
  pthread_attr_getstack(&attributes, &lowest, &size);
  pthread_attr_destroy(&attributes);
  check_slice.limit = (uint64_t)(uintptr_t)lowest + size;
  memset(&ours, 0, sizeof ours);
  ours.sa_sigaction = check_on_signal;
  ours.sa_flags = SA_SIGINFO | SA_RESTART;
  sigfillset(&ours.sa_mask);
  if (sigaction(number, &ours, &before) != 0)
    return false;
  qsort(numbers, 2, sizeof *numbers, check_compare);
  sigaction(number, &before, NULL);
  return check_slice.size > 0;
}

static void check_names(sp_check_list *list, sp_unwinder *unwinder,
                        const sp_native_frame *frames, size_t count) {
  const char *name, *module = "";
  size_t i, named = 0;
  bool sorted = false;
  uint64_t start;

  for (i = 0; i < count; i++) {
    if (!sp_unwinder_symbol(unwinder, frames[i].module, frames[i].address,
                            &name, &start))
      continue;
    named++;
    if (!sorted && strstr(name, "qsort")) {
      sorted = true;
      module = sp_unwinder_module(unwinder, frames[i].module)->path;
    }
  }
  if (sorted)
    sp_check_print(list, SP_CHECK_OK, "names",
                   "%zu of %zu frames have names; qsort is in %s", named, count,
                   module);
  else
    sp_check_print(list, SP_CHECK_FAILED, "names",
                   "%zu of %zu frames have names, but qsort is not among them",
                   named, count);
}

void sp_check_stack(sp_check_list *list, int number) {
  sp_native_frame frames[CHECK_FRAMES_MAX];
  sp_unwinder *unwinder = NULL;
  sp_stack_slice slice;
  sp_unwind_end end;
  size_t count;

  if (!check_capture(number)) {
    sp_check_print(list, SP_CHECK_FAILED, "unwinder",
                   "the handler of signal %d could not copy the stack", number);
    return;
  }
  if (sp_unwinder_new(&unwinder, list->io->mem)) {
    sp_check_print(list, SP_CHECK_FAILED, "unwinder", "%s",
                   spanprof_last_error());
    return;
  }
  slice = (sp_stack_slice){.registers = check_slice.registers,
                           .base = check_slice.base,
                           .bytes = check_slice.bytes,
                           .size = check_slice.size,
                           .whole = check_slice.size < CHECK_SLICE_BYTES};
  sp_unwinder_refresh(unwinder);
  count = sp_unwinder_walk(unwinder, &slice, frames, CHECK_FRAMES_MAX, &end);
  if (end == SP_UNWIND_NO_INFO)
    sp_check_print(list, SP_CHECK_FAILED, "unwinder",
                   "the stack walk stopped after %zu frames, in code without "
                   "unwind information",
                   count);
  else
    sp_check_print(list, SP_CHECK_OK, "unwinder", "%zu frames, %s", count,
                   end == SP_UNWIND_COMPLETE
                       ? "to the outermost frame"
                       : "to the end of the copied stack");
  check_names(list, unwinder, frames, count);
  sp_unwinder_free(unwinder);
}
