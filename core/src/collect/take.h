/* A profile that somebody asked for, of a length of its own, taken beside the
 * windows.
 *
 * Who: a thread makes it, hands it to the collector and waits for its begin,
 * later for its end; the collector's thread says so, and fills it between. Both
 * hold it, and either may go first: the last one frees it. */
#ifndef SP_TAKE_H
#define SP_TAKE_H

#include <pthread.h>

#include "../profile/profile.h"
#include "../util/clock.h"

/* Under way at once: each has a profile's tables, at most 64 MiB. */
#define SP_TAKES_MAX 4

typedef struct sp_take {
  /* Fixed after sp_take_new(). */
  const sp_mem *mem;
  uint64_t duration_ns;
  /* The collector's thread alone; `next` also who hands it over. */
  struct sp_take *next;
  struct sp_fold_side *side;
  uint64_t begun_ns; /* monotonic */
  uint64_t unix_ns;
  /* Guarded by lock. */
  pthread_mutex_t lock;
  pthread_cond_t changed;
  unsigned holders;
  bool begun;
  bool done;
  spanprof_status st;
  sp_encoded profile;
} sp_take;

/* Held by the caller. SPANPROF_ERR_NOMEM. */
spanprof_status sp_take_new(sp_take **out, const sp_mem *mem,
                            uint64_t duration_ns);

/* Hold it once more, and let it go. */
void sp_take_hold(sp_take *take);
void sp_take_release(sp_take *take);

/* Does anybody but the caller hold it? */
bool sp_take_is_held(sp_take *take);

/* It has begun: what is sampled from now on is in it. */
void sp_take_begin(sp_take *take);

/* It is done: `profile`, whose bytes it takes over, or else a failure. */
void sp_take_end(sp_take *take, spanprof_status st, sp_encoded *profile);

/* Wait until it has begun or is done, at most until `until_ns` of the clock. */
void sp_take_wait_begun(sp_take *take, const sp_clock *clock,
                        uint64_t until_ns);

/* Wait until it is done, at most until `until_ns` of the clock. The bytes are
 * the caller's then. SPANPROF_ERR_TIMEOUT, or what it ended with. */
spanprof_status sp_take_wait(sp_take *take, const sp_clock *clock,
                             uint64_t until_ns, sp_encoded *out);

#endif
