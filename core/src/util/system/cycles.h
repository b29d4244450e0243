/* A clock for measurements inside the signal handler: the processor's cycle
 * counter. Reading the system's clock touches five pages that the handler does
 * not need otherwise (code and data of the vDSO, and the path to them). If they
 * are in no cache, this costs a fifth of the whole sample. */
#ifndef SP_CYCLES_H
#define SP_CYCLES_H

#include "util/base.h"

/* The cycle counter and CLOCK_MONOTONIC at the same instant. */
typedef struct sp_cycles_mark {
  uint64_t cycles;
  uint64_t monotonic_ns;
} sp_cycles_mark;

sp_cycles_mark sp_cycles_mark_now(void);

/* Calibrate the counter by the time since `mark` (at least 1 ms). Before this
 * call, and if the counter's rate is not constant, CLOCK_MONOTONIC replaces the
 * counter. Called before any handler runs. */
void sp_cycles_calibrate(const sp_cycles_mark *mark);

/* The present time, in cycles. */
SP_HANDLER_CODE uint64_t sp_cycles_now(void);

/* Convert a difference of two results of sp_cycles_now() to nanoseconds. */
SP_HANDLER_CODE uint64_t sp_cycles_ns(uint64_t cycles);

#endif
