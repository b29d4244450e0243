/* Profiles that count since the start of a program, made into what was added
 * since the one before: Go's allocations, waits for mutexes and blocking. What
 * is a state (inuse_space, goroutine) stays as it is. */
#ifndef SP_SCRAPE_DELTA_H
#define SP_SCRAPE_DELTA_H

#include "server/model/received.h"

/* Kinds of values that one profile may count up. */
#define SP_SCRAPE_COUNTED_MAX 4

/* What one stack with its labels had counted: known by a hash of all the text
 * in it. */
typedef struct sp_scrape_count {
  uint64_t key[2];
  int64_t values[SP_SCRAPE_COUNTED_MAX];
} sp_scrape_count;

typedef struct sp_scrape_counts {
  sp_scrape_count *counts;
  size_t count;
  size_t room;
  uint64_t types; /* a hash of the kinds that are counted; 0: none were seen */
  uint64_t time_ns;
} sp_scrape_counts;

typedef struct sp_scrape_delta {
  const sp_mem *mem;
  sp_scrape_counts known; /* of the profile before */
  sp_scrape_counts next;  /* of the one at hand */
} sp_scrape_delta;

void sp_scrape_delta_init(sp_scrape_delta *delta, const sp_mem *mem);
void sp_scrape_delta_dispose(sp_scrape_delta *delta);

/* Subtract what is known. Without a profile before, what is counted becomes 0;
 * where a stack has less than before, or is gone, the program was started anew,
 * and all of it was added since. Samples without a value that is left go.
 * `now_ns` (monotonic) gives the profile its length. SPANPROF_ERR_NOMEM,
 * SPANPROF_ERR_LIMIT: more kinds than that. */
spanprof_status sp_scrape_delta_apply(sp_scrape_delta *delta,
                                      sp_received *profile, uint64_t now_ns);

/* The profile was kept: the next one is compared with it. */
void sp_scrape_delta_commit(sp_scrape_delta *delta);

#endif
