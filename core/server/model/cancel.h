/* Cancellation of the work for one request.
 *
 * The working thread checks whether it must stop; any thread may cancel its
 * work. */
#ifndef SP_CANCEL_H
#define SP_CANCEL_H

#include "util/memory/mem.h"

typedef enum sp_cancel_reason {
  SP_CANCEL_NONE,
  SP_CANCEL_DEADLINE,    /* the request's deadline has passed */
  SP_CANCEL_CLIENT_GONE, /* the client has closed the connection */
  SP_CANCEL_STOP,        /* the server is stopping */
} sp_cancel_reason;

/* An sp_cancel that is all zero has no deadline and is not cancelled. */
typedef struct sp_cancel {
  /* Used by the working thread only. */
  uint64_t deadline_ns; /* time of sp_monotonic_ns(); 0: none */
  uint32_t steps;
  /* An sp_cancel_reason, set by any thread. The first reason is kept. */
  _Atomic uint32_t reason;
} sp_cancel;

void sp_cancel_because(sp_cancel *cancel, sp_cancel_reason reason);

/* Set the deadline, unless an earlier one is set. */
void sp_cancel_by(sp_cancel *cancel, uint64_t deadline_ns);

/* Returns whether the work must stop. Reads the clock. NULL is never cancelled.
 */
bool sp_cancelled(sp_cancel *cancel);

/* Returns SPANPROF_ERR_TIMEOUT and sets the error text if sp_cancelled(). */
spanprof_status sp_cancel_check(sp_cancel *cancel);

/* Like sp_cancel_check(), for each iteration of a loop. Reads the clock only
 * once in SP_CANCEL_STEPS calls. */
#define SP_CANCEL_STEPS 256

static inline spanprof_status sp_cancel_step(sp_cancel *cancel) {
  return cancel &&
                 (atomic_load_explicit(&cancel->reason, memory_order_relaxed) ||
                  ++cancel->steps % SP_CANCEL_STEPS == 0)
             ? sp_cancel_check(cancel)
             : SPANPROF_OK;
}

#endif
