/* Converts profiles that count since the start of a program to increases since
 * the previous profile: Go's allocations, mutexes and blocking. Values that are
 * a state (inuse_space, goroutine) are unchanged. */
#ifndef SP_SCRAPE_DELTA_H
#define SP_SCRAPE_DELTA_H

#include "server/model/received.h"

/* Largest number of cumulative types of a profile. */
#define SP_SCRAPE_COUNTED_MAX 4

/* The counts of one stack and its labels, which are identified by a hash of all
 * their texts. */
typedef struct sp_scrape_count {
  uint64_t key[2];
  int64_t values[SP_SCRAPE_COUNTED_MAX];
} sp_scrape_count;

typedef struct sp_scrape_counts {
  sp_scrape_count *counts;
  size_t count;
  size_t capacity;
  uint64_t types; /* hash of the cumulative types; 0 if there were none */
  uint64_t time_ns;
} sp_scrape_counts;

typedef struct sp_scrape_delta {
  const sp_mem *mem;
  sp_scrape_counts known; /* of the previous profile */
  sp_scrape_counts next;  /* of the current profile */
} sp_scrape_delta;

void sp_scrape_delta_init(sp_scrape_delta *delta, const sp_mem *mem);
void sp_scrape_delta_dispose(sp_scrape_delta *delta);

/* Subtract the previous counts. Without a previous profile, cumulative values
 * become 0. If a stack counts less than before or is missing, the program was
 * restarted, and all counts are new. Samples without values are removed.
 * `now_ns` (monotonic) determines the duration of the profile.
 * SPANPROF_ERR_NOMEM; SPANPROF_ERR_LIMIT if there are too many types. */
spanprof_status sp_scrape_delta_apply(sp_scrape_delta *delta,
                                      sp_received *profile, uint64_t now_ns);

/* The profile was stored: compare the next profile with it. */
void sp_scrape_delta_commit(sp_scrape_delta *delta);

#endif
