/* What the signal handler does: copy what is needed to know later which code
 * ran for whom, into the ring, and return. */
#ifndef SP_CAPTURE_H
#define SP_CAPTURE_H

#include <spanprof/runtime.h>

#include "sampler/handler/checked_copy.h"
#include "sampler/handler/ring.h"
#include "thread_table.h"
#include "unwind/dwarf/registers.h"

/* Largest piece of stack a sample carries; what lies further out is cut. */
#define SP_SLICE_BYTES_MAX SP_COPY_BYTES_MAX

/* Most frames a runtime's walker may write. */
#define SP_WALK_FRAMES_MAX 512

#define SP_SAMPLE_STACK_WHOLE 1u /* the slice reaches the stack's outer end */
#define SP_SAMPLE_UNREADABLE  2u /* the stack could not be read */
#define SP_SAMPLE_WALK_CUT    4u
#define SP_SAMPLE_STACK_END   8u /* the slice ends at the runtime's bound */

/* Reasons for ticks without a stack: neither registers nor frames follow. */
#define SP_SAMPLE_BLOCKED      16u  /* the signal was blocked meanwhile */
#define SP_SAMPLE_THREAD_START 32u  /* before the thread had a timer */
#define SP_SAMPLE_THREAD_END   64u  /* after its last tick, or a late one */
#define SP_SAMPLE_NO_TIMER     128u /* the thread could get no timer */
#define SP_SAMPLE_RING_FULL    256u /* the ring was full */

/* A payload of the ring; behind it `frame_count` spanprof_frames, then
 * `stack_bytes` of stack. */
typedef struct sp_sample {
  uint32_t flags;
  uint32_t thread; /* index */
  uint64_t ticks;
  spanprof_span span; /* whose id it carries */
  spanprof_labels labels;
  uint32_t frame_count;
  uint32_t stack_bytes;
  uint32_t tid;
  spanprof_mark mark; /* of the recording that its context belongs to */
  uint64_t stack_base;
  sp_registers registers; /* last: the handler zeroes what stands before */
} sp_sample;

_Static_assert(offsetof(sp_sample, registers) + sizeof(sp_registers) ==
                   sizeof(sp_sample),
               "a field behind the registers would keep what the ring held");

/* What the handler works with; fixed while it is set. */
typedef struct sp_capture_config {
  size_t slice_bytes_max; /* 0: no native stacks */
  uint64_t interval_ns;
} sp_capture_config;

/* A session's part of the handler, and the ring that it writes to. There are
 * two: a handler that was preempted for longer than a stop waits, or a reader
 * that does not come back, may keep that of its session, and the next session
 * has the other. */
typedef struct sp_capture sp_capture;

/* One that no handler is in and nobody else holds, its ring empty.
 * SPANPROF_ERR_NOMEM. SPANPROF_ERR_LIMIT: both are in use. */
spanprof_status sp_capture_acquire(sp_capture **out);

/* From now on nobody reads its ring. */
void sp_capture_release(sp_capture *capture);

sp_ring *sp_capture_ring(sp_capture *capture);

/* Have handlers take samples, until sp_capture_end(): from then on they are
 * counted as dropped. The configuration is copied. */
void sp_capture_begin(sp_capture *capture, const sp_capture_config *config);
void sp_capture_end(void);

/* Is any handler at work in it? */
bool sp_capture_busy(const sp_capture *capture);

/* In a forked child: no handler is, and of other threads' nothing is held. */
void sp_capture_after_fork(void);

/* The sp_signal_fn. */
SP_HANDLER_CODE void sp_capture_signal(int number, uint32_t index,
                                       uint64_t ticks, void *ucontext);

/* Book ticks of a thread of this process without a stack, with the table's lock
 * held; `why` is one of the flags above. Ticks at the thread's start, and ticks
 * that the full ring rejected, carry no labels and no span. The others carry
 * those of sp_context_last(). */
void sp_capture_book(sp_thread *thread, uint32_t why, uint64_t ticks);

#endif
