/* Cancellation of the work for one request.
 *
 * Threads: the working thread checks; any thread may cancel. */
#ifndef SP_CANCEL_H
#define SP_CANCEL_H

#include "util/memory/mem.h"

typedef enum sp_cancel_reason {
  SP_CANCEL_NONE,
  SP_CANCEL_DEADLINE,    /* the request's deadline has passed */
  SP_CANCEL_CLIENT_GONE, /* its client has closed the connection */
  SP_CANCEL_STOP,        /* the server is stopping */
} sp_cancel_reason;

/* All zero: no deadline, not cancelled. */
typedef struct sp_cancel {
  /* Only the working thread uses these. */
  uint64_t deadline_ns; /* by sp_monotonic_ns(); 0: none */
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

/* The same as a status: SPANPROF_ERR_TIMEOUT with an error message. */
spanprof_status sp_cancel_check(sp_cancel *cancel);

/* The same for each iteration of a loop. Reads the clock once in
 * SP_CANCEL_STEPS calls. */
#define SP_CANCEL_STEPS 256

static inline spanprof_status sp_cancel_step(sp_cancel *cancel) {
  return cancel &&
                 (atomic_load_explicit(&cancel->reason, memory_order_relaxed) ||
                  ++cancel->steps % SP_CANCEL_STEPS == 0)
             ? sp_cancel_check(cancel)
             : SPANPROF_OK;
}

#endif
