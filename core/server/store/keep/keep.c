#include <sys/resource.h>

#include "compact.h"
#include "server/store/select/wide_filter.h"
#include "util/system/status.h"

/* How often there is a look at what can be compacted and what has to go. */
#define KEEP_EVERY_NS (20 * SP_NS_PER_S)

/* How often, at most, names and stacks of dropped profiles are looked for: that
 * reads a part of every block. */
#define KEEP_COLLECT_NS (3600 * SP_NS_PER_S)

/* The keeper's thread packs for seconds what came in hours: uploads and queries
 * come first where all cores are busy. A third of their weight, for the store's
 * close waits for it. */
#define KEEP_NICE 5

/* A clock that leaps ahead so far may be set back soon: nothing is old by it
 * before it has stayed there for a while. */
#define KEEP_LEAP_NS    ((int64_t)3600 * 1000000000)
#define KEEP_TRUSTED_NS (600 * SP_NS_PER_S)

/* The keeper's, from pass to pass. */
typedef struct keep_state {
  sp_compact_seen seen;
  uint64_t collect_ns; /* when the next may be */
  int64_t ahead_ns;    /* the calendar's time, of the time that passes */
  uint64_t trusted_ns; /* from when on, after a leap */
} keep_state;

bool sp_store_ends(sp_store *store) {
  bool ending;

  pthread_mutex_lock(&store->lock);
  ending = store->ending;
  pthread_mutex_unlock(&store->lock);
  return ending;
}

spanprof_status sp_store_compact(sp_store *store) {
  sp_compact_seen seen = {0, 0};
  spanprof_status st = sp_compact(store, true, SP_COMPACT_PROFILES_MAX, &seen);

  return st ? st : sp_wide_filter_keep(store);
}

static spanprof_status keep_collect(sp_store *store, uint64_t *next_ns) {
  const uint64_t now = sp_clock_monotonic_ns(store->clock);

  if (now < *next_ns || !atomic_load(&store->uncollected))
    return SPANPROF_OK;
  *next_ns = now + KEEP_COLLECT_NS;
  return sp_store_collect(store);
}

static int64_t keep_ahead(const sp_store *store) {
  return (int64_t)(sp_clock_unix_ns(store->clock) -
                   sp_clock_monotonic_ns(store->clock));
}

static bool keep_trusts_clock(const sp_store *store, keep_state *state) {
  const uint64_t now = sp_clock_monotonic_ns(store->clock);
  const int64_t ahead = keep_ahead(store);

  if (ahead - state->ahead_ns > KEEP_LEAP_NS)
    state->trusted_ns = now + KEEP_TRUSTED_NS;
  state->ahead_ns = ahead;
  return now >= state->trusted_ns;
}

static spanprof_status keep_pass(sp_store *store, keep_state *state) {
  spanprof_status st = SPANPROF_OK;

  st = sp_store_drop_by_bytes(store);
  if (!st && keep_trusts_clock(store, state))
    st = sp_store_drop_by_age(store);
  if (!st)
    st = sp_compact(store, false, SP_COMPACT_PROFILES_MAX, &state->seen);
  if (!st)
    st = sp_wide_filter_keep(store);
  if (!st)
    st = keep_collect(store, &state->collect_ns);
  return st;
}

/* If uploads wait for room, only make room. */
static spanprof_status keep_room(sp_store *store) {
  spanprof_status st = sp_store_drop_by_bytes(store);

  pthread_mutex_lock(&store->lock);
  pthread_cond_broadcast(&store->room);
  pthread_mutex_unlock(&store->lock);
  return st;
}

void *sp_store_keep(void *argument) {
  sp_store *store = argument;
  keep_state state = {.ahead_ns = keep_ahead(store)};
  uint64_t next = sp_clock_monotonic_ns(store->clock) + KEEP_EVERY_NS, now;
  spanprof_status st;

  setpriority(PRIO_PROCESS, 0, KEEP_NICE); /* on Linux: of the thread alone */
  pthread_mutex_lock(&store->lock);
  while (!store->ending) {
    if (!store->pressed)
      sp_clock_wait(store->clock, &store->keeper_wake, &store->lock, next);
    now = sp_clock_monotonic_ns(store->clock);
    if (store->ending || (!store->pressed && now < next))
      continue;
    store->pressed = false;
    pthread_mutex_unlock(&store->lock);
    st = now < next ? keep_room(store) : keep_pass(store, &state);
    if (now >= next)
      next = sp_clock_monotonic_ns(store->clock) + KEEP_EVERY_NS;
    if (st)
      sp_log_warn(store->log, SP_LOG_OUTPUT, "cannot tidy the store: %s",
                  spanprof_last_error());
    pthread_mutex_lock(&store->lock);
  }
  pthread_mutex_unlock(&store->lock);
  return NULL;
}
