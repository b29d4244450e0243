#include "capture.h"

#include <string.h>
#include <unistd.h>

#include "label/context.h"
#include "sampler/handler/checked_copy.h"
#include "sampler/handler/handler_counts.h"
#include "sampler/handler/runtime.h"
#include "sampler/handler/signal_unblocked.h"
#include "sampler/handler/stack_top.h"
#include "util/system/clock.h"
#include "util/system/counters.h"
#include "util/system/cycles.h"
#include "util/system/status.h"

struct sp_capture {
  /* Written only while no handler can be inside. */
  sp_capture_config config;
  sp_ring *ring;           /* created at the first use, never freed */
  _Atomic uint32_t inside; /* number of running handlers */
  _Atomic bool acquired;
};

/* Process-wide, because the signal handler is process-wide. */
SP_HANDLER_DATA static sp_capture capture_of[2];
SP_HANDLER_DATA static _Atomic(sp_capture *) capture_current;

spanprof_status sp_capture_acquire(sp_capture **out) {
  size_t i;

  *out = NULL;
  for (i = 0; i < SP_COUNT_OF(capture_of); i++) {
    sp_capture *capture = &capture_of[i];

    if (sp_capture_busy(capture) || atomic_load(&capture->acquired))
      continue;
    if (!capture->ring)
      capture->ring = sp_ring_new(sp_ring_shards(sysconf(_SC_NPROCESSORS_ONLN)),
                                  SP_RING_SHARD_BYTES);
    if (!capture->ring)
      return SPANPROF_ERR_NOMEM;
    sp_ring_clear(capture->ring);
    atomic_store(&capture->acquired, true);
    *out = capture;
    return SPANPROF_OK;
  }
  return sp_fail(SPANPROF_ERR_LIMIT,
                 "two stopped sessions still have running threads; start "
                 "again when these have finished");
}

void sp_capture_release(sp_capture *capture) {
  atomic_store(&capture->acquired, false);
}

sp_ring *sp_capture_ring(sp_capture *capture) {
  return capture->ring;
}

void sp_capture_begin(sp_capture *capture, const sp_capture_config *config) {
  capture->config = *config;
  atomic_store(&capture_current, capture);
}

void sp_capture_end(void) {
  atomic_store(&capture_current, NULL);
}

bool sp_capture_busy(const sp_capture *capture) {
  return atomic_load(&capture->inside) != 0;
}

void sp_capture_after_fork(void) {
  const sp_capture *current = atomic_load(&capture_current);
  size_t i;

  for (i = 0; i < SP_COUNT_OF(capture_of); i++) {
    atomic_store(&capture_of[i].inside, 0);
    atomic_store(&capture_of[i].acquired, &capture_of[i] == current);
  }
}

/* Enter the current capture. Returns NULL if no session samples. If the session
 * ends at the same time, either the stop finds the handler counted in `inside`,
 * or the handler sees that the session has ended. */
SP_HANDLER_CODE static sp_capture *capture_enter(void) {
  sp_capture *capture = atomic_load(&capture_current);

  if (!capture)
    return NULL;
  atomic_fetch_add(&capture->inside, 1);
  if (SP_LIKELY(atomic_load(&capture_current) == capture))
    return capture;
  atomic_fetch_sub(&capture->inside, 1);
  return NULL;
}

SP_HANDLER_CODE static void capture_exit(sp_capture *capture) {
  atomic_fetch_sub_explicit(&capture->inside, 1, memory_order_release);
}

/* Copy stack memory that another thread may write, or that ASan has
 * poisoned. */
SP_NO_SANITIZE SP_HANDLER_CODE static void stack_copy(void *to, uint64_t from,
                                                      size_t bytes) {
  const volatile uint64_t *source = (const volatile uint64_t *)(uintptr_t)from;
  uint64_t *target = to;
#if defined(__x86_64__)
  size_t words = bytes / 8;

  __asm__ volatile("rep movsq"
                   : "+S"(source), "+D"(target), "+c"(words)
                   :
                   : "memory");
#else
  size_t i;

  for (i = 0; i < bytes / 8; i++)
    target[i] = source[i];
#endif
}

SP_HANDLER_CODE static uint64_t thread_pointer(void) {
  return (uint64_t)(uintptr_t)__builtin_thread_pointer();
}

/* The slice of the stack that the handler copies. */
typedef struct stack_piece {
  uint64_t base;
  size_t bytes; /* upper bound of the slice's size */
  bool known;   /* the whole slice is known to be mapped */
  /* The slice reaches the outer end of the stack, if that is known. */
  bool whole;
  bool end; /* the slice reaches the stack end that the runtime reported */
} stack_piece;

SP_HANDLER_CODE static stack_piece stack_find(sp_thread *thread, uint64_t sp,
                                              size_t max) {
  uint64_t low = atomic_load_explicit(&thread->stack_low, memory_order_acquire);
  uint64_t high =
      atomic_load_explicit(&thread->stack_high, memory_order_relaxed);
  /* The slice does not begin below the page of `sp`, because the next lower
   * page may be a guard page of the program. */
  const uint64_t page = sp & ~(uint64_t)(SP_COPY_PAGE_BYTES - 1);
  stack_piece piece = {.base = (sp - SP_RED_ZONE_BYTES) & ~UINT64_C(7),
                       .bytes = max};

  if (piece.base < page)
    piece.base = page;
  if (low != 0 && sp >= low && sp < high) {
    piece.known = true;
    piece.whole = high - piece.base <= max;
    piece.bytes = (size_t)sp_min_u64(high - piece.base, max) & ~(size_t)7;
  } else if (low == 0 || sp < low) {
    uint64_t tp = thread_pointer(), top = sp_stack_top_below(tp);

    /* A stack pointer this close to the thread's control block is on the
     * thread's normal stack. */
    if (top > sp && top - piece.base <= max) {
      piece.whole = true;
      piece.bytes = (size_t)(top - piece.base) & ~(size_t)7;
    }
    atomic_store_explicit(&thread->seen_tp, tp, memory_order_relaxed);
    atomic_store_explicit(&thread->seen_sp, sp, memory_order_release);
  }
  return piece;
}

/* Cut the slice at the stack end that the runtime reported, because the frames
 * beyond it are not needed. */
SP_HANDLER_CODE static void stack_limit(stack_piece *piece, uint64_t sp,
                                        uint64_t end) {
  if (end <= sp || end - piece->base > piece->bytes)
    return;
  piece->bytes = (size_t)(end - piece->base) & ~(size_t)7;
  piece->whole = true;
  piece->end = true;
}

/* Copy the slice to `to`, which follows the frames of the sample. */
SP_HANDLER_CODE static void stack_fill(sp_sample *sample,
                                       const stack_piece *piece, void *to) {
  sample->stack_base = piece->base;
  if (piece->end)
    sample->flags |= SP_SAMPLE_STACK_END;
  if (piece->known) {
    stack_copy(to, piece->base, piece->bytes);
    sample->stack_bytes = (uint32_t)piece->bytes;
    if (piece->whole)
      sample->flags |= SP_SAMPLE_STACK_WHOLE;
    return;
  }
  sample->stack_bytes =
      (uint32_t)sp_copy_checked(to, piece->base, piece->bytes);
  if (sample->stack_bytes == 0)
    sample->flags |= SP_SAMPLE_UNREADABLE;
  else if (sample->stack_bytes < piece->bytes || piece->whole)
    sample->flags |= SP_SAMPLE_STACK_WHOLE;
}

/* Returns the end of the thread's stack if `sp` is on that stack, otherwise
 * 0. */
SP_HANDLER_CODE static uint64_t stack_end_around(sp_thread *thread,
                                                 uint64_t sp) {
  uint64_t low = atomic_load_explicit(&thread->stack_low, memory_order_acquire);
  uint64_t high =
      atomic_load_explicit(&thread->stack_high, memory_order_relaxed);

  return low != 0 && sp >= low && sp < high ? high : 0;
}

SP_HANDLER_CODE static spanprof_capture
capture_describe(const sp_registers *registers, const void *ucontext,
                 sp_thread *thread, sp_self *self) {
  return (spanprof_capture){
      .struct_size = sizeof(spanprof_capture),
      .ucontext = ucontext,
      .pc = registers->r[SP_REGISTER_PC],
      .sp = registers->r[SP_REGISTER_SP],
      .thread_data =
          self ? atomic_load_explicit(&self->thread_data, memory_order_acquire)
               : NULL,
      .stack_end = stack_end_around(thread, registers->r[SP_REGISTER_SP])};
}

/* Read labels, span and mark from the context that the runtime reports, or
 * otherwise from the thread's context. */
SP_HANDLER_CODE static void
sample_context_read(sp_sample *sample, sp_self *self,
                    const spanprof_capture *capture,
                    const spanprof_runtime *runtime) {
  spanprof_context_view view = {.struct_size = sizeof view};

  if (runtime && runtime->read_context &&
      runtime->read_context(runtime->data, capture, &view)) {
    sample->labels = view.labels;
    sample->span = view.span;
    sample->mark = view.mark;
  } else if (self) {
    sp_context_read(self, &sample->labels, &sample->span);
    sample->mark = sp_context_mark(self);
  }
  if (self)
    sp_context_remember(self, sample->labels, sample->span, sample->mark);
}

SP_HANDLER_CODE static void
sample_frames_read(sp_sample *sample, const spanprof_capture *capture,
                   const spanprof_runtime *runtime) {
  int cut = 0;
  size_t count;

  if (!runtime || !runtime->walk)
    return;
  count = runtime->walk(runtime->data, capture, (spanprof_frame *)(sample + 1),
                        SP_WALK_FRAMES_MAX, &cut);
  sample->frame_count = (uint32_t)sp_min_u64(count, SP_WALK_FRAMES_MAX);
  if (cut)
    sample->flags |= SP_SAMPLE_WALK_CUT;
}

/* Put a sample without a stack into the ring. The caller has set its flags,
 * ticks and context. If the ring has no space, a later scan records the
 * ticks. */
SP_HANDLER_RARE static sp_wake *note_put(const sp_capture *into,
                                         sp_thread *thread, sp_sample *note) {
  sp_ring_claim claim;

  if (sp_ring_reserve(into->ring, thread->index, sizeof *note, &claim) !=
      SP_RING_OK) {
    atomic_fetch_add(&thread->ticks_rejected, note->ticks);
    return sp_ring_wake(into->ring);
  }
  note->thread = thread->index;
  note->tid =
      (uint32_t)atomic_load_explicit(&thread->tid, memory_order_relaxed);
  memcpy(claim.payload, note, sizeof *note);
  sp_handler_count_sample(note->ticks);
  return sp_ring_commit(&claim, sizeof *note) ? sp_ring_wake(into->ring) : NULL;
}

/* Called in the handler: record ticks that do not belong to the interrupted
 * stack. */
SP_HANDLER_RARE static sp_wake *
note_make(const sp_capture *into, sp_thread *thread, uint32_t why,
          uint64_t ticks, const sp_registers *registers, const void *ucontext) {
  sp_self *self = atomic_load_explicit(&thread->self, memory_order_acquire);
  const spanprof_capture capture =
      capture_describe(registers, ucontext, thread, self);
  sp_sample note = {.flags = why, .ticks = ticks};

  sample_context_read(&note, self, &capture, sp_runtime_enter());
  sp_runtime_leave();
  return note_put(into, thread, &note);
}

/* Take a sample. Returns the wake-up that the caller must call to wake the
 * ring's reader, or NULL. */
SP_HANDLER_CODE static sp_wake *sample_take(const sp_capture *into,
                                            sp_thread *thread, uint64_t ticks,
                                            const sp_registers *registers,
                                            const void *ucontext) {
  const size_t slice_bytes_max = into->config.slice_bytes_max;
  const spanprof_runtime *runtime = sp_runtime_enter();
  sp_self *self = atomic_load_explicit(&thread->self, memory_order_acquire);
  const spanprof_capture capture =
      capture_describe(registers, ucontext, thread, self);
  stack_piece piece = {0};
  size_t frames_bytes = 0;
  sp_ring_claim claim;
  sp_sample *sample;

  if (slice_bytes_max > 0)
    piece = stack_find(thread, capture.sp, slice_bytes_max);
  if (piece.bytes > 0 && runtime && runtime->stack_end)
    stack_limit(&piece, capture.sp,
                runtime->stack_end(runtime->data, &capture));
  if (runtime && runtime->walk)
    frames_bytes = SP_WALK_FRAMES_MAX * sizeof(spanprof_frame);
  if (SP_UNLIKELY(sp_ring_reserve(into->ring, thread->index,
                                  sizeof *sample + frames_bytes + piece.bytes,
                                  &claim) != SP_RING_OK)) {
    sp_runtime_leave();
    return note_make(into, thread, SP_SAMPLE_RING_FULL, ticks, registers,
                     ucontext);
  }
  sample = claim.payload;
  memset(sample, 0, offsetof(sp_sample, registers));
  sample->thread = thread->index;
  sample->tid =
      (uint32_t)atomic_load_explicit(&thread->tid, memory_order_relaxed);
  sample->ticks = ticks;
  sample->registers = *registers;
  sample_context_read(sample, self, &capture, runtime);
  sample_frames_read(sample, &capture, runtime);
  sp_runtime_leave();
  frames_bytes = sample->frame_count * sizeof(spanprof_frame);
  if (piece.bytes > 0)
    stack_fill(sample, &piece, (char *)(sample + 1) + frames_bytes);
  /* If the handler was preempted for longer than a stop waits, the session has
   * stopped, and nothing reads its ring any more. */
  if (SP_UNLIKELY(atomic_load_explicit(&capture_current,
                                       memory_order_acquire) != into)) {
    sp_ring_commit(&claim, 0);
    sp_handler_drop(&sp_counts.samples_dropped_stop, ticks);
    return NULL;
  }
  sp_handler_count_sample(ticks);
  if (ticks > 1)
    sp_count(&sp_counts.ticks_overrun, ticks - 1);
  return sp_ring_commit(&claim,
                        sizeof *sample + frames_bytes + sample->stack_bytes)
             ? sp_ring_wake(into->ring)
             : NULL;
}

/* Add to a counter that only this thread's handler writes. */
SP_HANDLER_CODE static void handler_add(sp_counter *counter, uint64_t n) {
  atomic_store_explicit(counter, sp_counted(counter) + n, memory_order_relaxed);
}

/* Subtract the ticks that a scan has already recorded. */
SP_HANDLER_RARE static uint64_t ticks_not_ahead(sp_thread *thread,
                                                uint64_t ticks) {
  const uint64_t booked = sp_min_u64(atomic_load(&thread->ticks_ahead), ticks);

  atomic_fetch_sub(&thread->ticks_ahead, booked);
  return ticks - booked;
}

/* Are these ticks late because the thread blocked the signal, and not because
 * the kernel noticed them late? */
SP_HANDLER_RARE static bool ticks_were_blocked(sp_thread *thread, int number,
                                               const sp_registers *registers) {
  return atomic_exchange_explicit(&thread->blocked, false,
                                  memory_order_relaxed) ||
         sp_signal_just_unblocked(registers, number);
}

/* Handle a signal. Returns the wake-up that the caller must call to wake the
 * ring's reader, or NULL. */
SP_HANDLER_CODE static sp_wake *signal_process(const sp_capture *capture,
                                               int number, uint32_t index,
                                               uint64_t ticks,
                                               const void *ucontext) {
  sp_thread *thread = sp_thread_at(index);
  sp_registers registers;
  bool blocked;

  if (!capture || !thread ||
      !atomic_load_explicit(&thread->active, memory_order_acquire)) {
    sp_handler_drop(&sp_counts.samples_dropped_stop, ticks);
    return NULL;
  }
  handler_add(&thread->samples, 1);
  handler_add(&thread->ticks, ticks);
  sp_registers_read(&registers, ucontext);
  blocked = sp_signal_unblocked_by_wait(ucontext, number);
  if (SP_UNLIKELY((ticks - 1) * capture->config.interval_ns >=
                  SP_THREAD_LATE_NS))
    blocked = blocked || ticks_were_blocked(thread, number, &registers);
  if (SP_UNLIKELY(atomic_load_explicit(&thread->ticks_ahead,
                                       memory_order_relaxed) != 0)) {
    ticks = ticks_not_ahead(thread, ticks);
    blocked = true;
  }
  if (SP_LIKELY(!blocked))
    return sample_take(capture, thread, ticks, &registers, ucontext);
  return ticks > 0 ? note_make(capture, thread, SP_SAMPLE_BLOCKED, ticks,
                               &registers, ucontext)
                   : NULL;
}

void sp_capture_signal(int number, uint32_t index, uint64_t ticks,
                       void *ucontext) {
  uint64_t start = sp_cycles_now();
  sp_capture *capture = capture_enter();
  sp_wake *wake = signal_process(capture, number, index, ticks, ucontext);

  if (SP_LIKELY(capture != NULL))
    capture_exit(capture);
  sp_handler_count_time(sp_cycles_ns(sp_cycles_now() - start));
  /* The wake-up is the last step, because the reader may preempt this thread at
   * once, and the thread must not own a shard of the ring then. */
  if (SP_UNLIKELY(wake != NULL))
    sp_wake_call(wake);
}

void sp_capture_book(sp_thread *thread, uint32_t why, uint64_t ticks) {
  sp_capture *capture = capture_enter();
  sp_self *self = atomic_load(&thread->self);
  sp_sample note = {.flags = why, .ticks = ticks};
  sp_wake *wake;

  if (!capture)
    return;
  if (self && !(why & (SP_SAMPLE_THREAD_START | SP_SAMPLE_RING_FULL)))
    sp_context_last(self, &note.labels, &note.span, &note.mark);
  wake = note_put(capture, thread, &note);
  capture_exit(capture);
  if (wake)
    sp_wake_call(wake);
}
