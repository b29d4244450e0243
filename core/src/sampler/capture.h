/* The signal handler's work: it copies the interrupted thread's stack, labels
 * and span into the ring. The collector attributes the sample later. */
#ifndef SP_CAPTURE_H
#define SP_CAPTURE_H

#include <spanprof/runtime.h>

#include "sampler/handler/checked_copy.h"
#include "sampler/handler/ring.h"
#include "thread_table.h"
#include "unwind/dwarf/registers.h"

/* Maximum size of a sample's stack slice. Outer frames beyond it are cut. */
#define SP_SLICE_BYTES_MAX SP_COPY_BYTES_MAX

/* Maximum number of frames that a runtime's walker may write. */
#define SP_WALK_FRAMES_MAX 512

#define SP_SAMPLE_STACK_WHOLE 1u /* the slice reaches the stack's outer end */
#define SP_SAMPLE_UNREADABLE  2u /* the stack could not be read */
#define SP_SAMPLE_WALK_CUT    4u
/* The slice reaches the stack end that the runtime reported. */
#define SP_SAMPLE_STACK_END 8u

/* Reasons for ticks without a stack. Such samples have neither registers nor
 * frames. */
#define SP_SAMPLE_BLOCKED      16u /* the thread blocked the signal */
#define SP_SAMPLE_THREAD_START 32u /* before the thread had a timer */
/* the tick expired, but its signal was not delivered before the timer was
 * deleted */
#define SP_SAMPLE_THREAD_END 64u
#define SP_SAMPLE_NO_TIMER   128u /* no timer was available for the thread */
#define SP_SAMPLE_RING_FULL  256u /* the ring had no space */

/* A payload of the ring. The sample is followed by `frame_count`
 * spanprof_frames, then by `stack_bytes` bytes of stack. */
typedef struct sp_sample {
  uint32_t flags;
  uint32_t thread; /* index */
  uint64_t ticks;
  spanprof_span span; /* the sample carries the id of this span */
  spanprof_labels labels;
  uint32_t frame_count;
  uint32_t stack_bytes;
  uint32_t tid;
  /* Mark of the context, by which recordings select samples. */
  spanprof_mark mark;
  uint64_t stack_base;
  /* Must be last: the handler zeroes all fields before it. */
  sp_registers registers;
} sp_sample;

_Static_assert(
    offsetof(sp_sample, registers) + sizeof(sp_registers) == sizeof(sp_sample),
    "a field after the registers would contain old data of the ring");

/* The handler's configuration, which does not change while handlers use it. */
typedef struct sp_capture_config {
  size_t slice_bytes_max; /* 0: no native stacks */
  uint64_t interval_ns;
} sp_capture_config;

/* The state that a session shares with the handler, and the ring that the
 * handler writes to. There are two captures, because the capture of a stopped
 * session may still be in use: by a handler that is preempted for longer than a
 * stop waits, or by a reader that does not return. The next session uses the
 * other capture. */
typedef struct sp_capture sp_capture;

/* Acquire a capture that is not acquired and that no handler uses. Its ring is
 * empty. Returns SPANPROF_ERR_LIMIT if both captures are in use, or
 * SPANPROF_ERR_NOMEM. */
spanprof_status sp_capture_acquire(sp_capture **out);

/* Release the capture. The caller must not read its ring after that. */
void sp_capture_release(sp_capture *capture);

sp_ring *sp_capture_ring(sp_capture *capture);

/* Let handlers take samples until sp_capture_end(). Samples after the end are
 * counted as dropped. The configuration is copied. */
void sp_capture_begin(sp_capture *capture, const sp_capture_config *config);
void sp_capture_end(void);

/* Does any handler use the capture? */
bool sp_capture_busy(const sp_capture *capture);

/* Called in a forked child, where no handler is running. Sets the numbers of
 * running handlers to 0, and releases all captures except the current one. */
void sp_capture_after_fork(void);

/* Handles a signal of a spanprof timer (an sp_signal_fn). */
SP_HANDLER_CODE void sp_capture_signal(int number, uint32_t index,
                                       uint64_t ticks, void *ucontext);

/* Record ticks of a thread of this process without a stack. The caller holds
 * the thread table's lock. `why` is one of the SP_SAMPLE_ reasons above. If
 * `why` is SP_SAMPLE_THREAD_START or SP_SAMPLE_RING_FULL, the ticks have no
 * labels and no span; otherwise they have those of sp_context_last(). */
void sp_capture_book(sp_thread *thread, uint32_t why, uint64_t ticks);

#endif
