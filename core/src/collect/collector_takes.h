/* Profiles of a length of their own, which the collector fills beside its
 * windows: take.h. */
#ifndef SP_COLLECTOR_TAKES_H
#define SP_COLLECTOR_TAKES_H

#include "collector.h"
#include "take.h"

/* Have samples go into `take` too, from when it begins (sp_take_wait_begun())
 * and for as long as it lasts; then it is done, and so it is at a stop. The
 * collector holds it meanwhile.
 * SPANPROF_ERR_LIMIT: SP_TAKES_MAX are under way. */
spanprof_status sp_collector_take(sp_collector *collector, sp_take *take);

/* All of these with `work_lock` held, by the collector's thread.
 *
 * Begin and end takes, right after the ring was emptied: what is sampled while
 * the round's other work goes on is of those that began, and not missed by
 * those that end. Returns when the next one ends by the collector's clock,
 * UINT64_MAX where there is none. */
uint64_t sp_collector_takes_round(sp_collector *collector);

/* End all of them, with what they have. */
void sp_collector_takes_end(sp_collector *collector);

/* In a forked child: they are of threads of the parent. */
void sp_collector_takes_forget(sp_collector *collector);

#endif
