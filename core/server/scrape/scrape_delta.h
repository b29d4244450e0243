/* Converts cumulative values, which count from the start of a program, to
 * increases since the previous profile. Go has such values for allocations,
 * mutexes and blocking. Values that are a state (inuse_space, goroutine) are
 * unchanged. */
#ifndef SP_SCRAPE_DELTA_H
#define SP_SCRAPE_DELTA_H

#include "server/model/received.h"

/* Largest number of cumulative types of a profile. */
#define SP_SCRAPE_COUNTED_MAX 4

/* The cumulative values of one stack with its labels. `key` is a hash of all
 * texts in the stack and the labels. */
typedef struct sp_scrape_count {
  uint64_t key[2];
  int64_t values[SP_SCRAPE_COUNTED_MAX];
} sp_scrape_count;

typedef struct sp_scrape_counts {
  sp_scrape_count *counts;
  size_t count;
  size_t capacity;
  uint64_t types; /* hash of the cumulative types; 0: there are none */
  uint64_t time_ns;
} sp_scrape_counts;

typedef struct sp_scrape_delta {
  const sp_mem *mem;
  sp_scrape_counts known; /* counts of the previous profile */
  sp_scrape_counts next;  /* counts of the current profile */
} sp_scrape_delta;

void sp_scrape_delta_init(sp_scrape_delta *delta, const sp_mem *mem);
void sp_scrape_delta_dispose(sp_scrape_delta *delta);

/* Subtract the previous counts from the cumulative values of a profile. Without
 * a previous profile, the values become 0. If a stack is missing or has a lower
 * count than before, the program was restarted; all counts are then new and
 * remain unchanged. Samples without values are removed. `now_ns` is the
 * monotonic time, from which the duration of the profile is computed. Can
 * return SPANPROF_ERR_NOMEM, and SPANPROF_ERR_LIMIT if there are too many
 * types. */
spanprof_status sp_scrape_delta_apply(sp_scrape_delta *delta,
                                      sp_received *profile, uint64_t now_ns);

/* Call this after the profile was stored. The next profile is compared with
 * it. */
void sp_scrape_delta_commit(sp_scrape_delta *delta);

#endif
