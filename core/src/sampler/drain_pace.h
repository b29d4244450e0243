/* How often the collector drains the ring. Each round finds its caches cold, so
 * there are to be few of them: as many as leave the fullest shard half empty.
 */
#ifndef SP_DRAIN_PACE_H
#define SP_DRAIN_PACE_H

#include "../util/base.h"

/* How long to sleep, 10 to 150 ms, where timers of `interval_ns` filled the
 * fullest shard to `fill_percent` in the `since_ns` since the last round. */
uint64_t sp_drain_pace_ns(uint64_t interval_ns, unsigned fill_percent,
                          uint64_t since_ns);

#endif
