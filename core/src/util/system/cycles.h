/* Time for what measures itself inside the signal handler. The system's clock
 * costs a sampled thread five pages that nothing else there needs (the vDSO's
 * code and data, and what leads to it): where they are in no cache, a fifth of
 * the whole sample. */
#ifndef SP_CYCLES_H
#define SP_CYCLES_H

#include "util/base.h"

/* Both clocks at one instant. */
typedef struct sp_cycles_mark {
  uint64_t cycles;
  uint64_t monotonic_ns;
} sp_cycles_mark;

sp_cycles_mark sp_cycles_mark_now(void);

/* Learn the counter's speed from the time since `mark`, some ms or more; until
 * then, and where it is not steady, CLOCK_MONOTONIC stands in for it. Called
 * before any handler runs. */
void sp_cycles_learn(const sp_cycles_mark *mark);

/* Now, in units of its own. */
SP_HANDLER_CODE uint64_t sp_cycles_now(void);

/* How long a difference of two such is. */
SP_HANDLER_CODE uint64_t sp_cycles_ns(uint64_t cycles);

#endif
