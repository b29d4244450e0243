#include <sys/resource.h>

#include "compact.h"
#include "server/store/select/wide_filter.h"
#include "util/system/status.h"

/* Time between two passes, which compact and delete. */
#define MAINTAIN_EVERY_NS (20 * SP_NS_PER_S)

/* Shortest time between two collections of unused names and stacks. A
 * collection reads a part of every block. */
#define MAINTAIN_COLLECT_NS (3600 * SP_NS_PER_S)

/* Compacting the data of hours takes seconds. With nice 5 the maintenance
 * thread has a third of the weight of other threads, so uploads and queries
 * come first if all cores are busy, but the thread still ends soon when the
 * store is closed. */
#define MAINTAIN_NICE 5

/* A calendar clock that jumps ahead by LEAP may soon be set back. Data is
 * therefore deleted by age only if there was no such jump during the last
 * TRUSTED. */
#define MAINTAIN_LEAP_NS    ((int64_t)3600 * 1000000000)
#define MAINTAIN_TRUSTED_NS (600 * SP_NS_PER_S)

/* State of the maintenance thread between passes. */
typedef struct maintain_state {
  sp_compact_seen seen;
  uint64_t collect_ns; /* time of the next collection, at the earliest */
  int64_t ahead_ns;    /* calendar time minus monotonic time */
  uint64_t trusted_ns; /* from this monotonic time on the calendar clock is
                        * trusted again */
} maintain_state;

bool sp_store_is_closing(sp_store *store) {
  bool closing;

  pthread_mutex_lock(&store->lock);
  closing = store->closing;
  pthread_mutex_unlock(&store->lock);
  return closing;
}

spanprof_status sp_store_compact(sp_store *store) {
  sp_compact_seen seen = {0, 0};
  spanprof_status st = sp_compact(store, true, SP_COMPACT_PROFILES_MAX, &seen);

  return st ? st : sp_wide_filter_update(store);
}

static spanprof_status maintain_collect(sp_store *store, uint64_t *next_ns) {
  const uint64_t now = sp_clock_monotonic_ns(store->clock);

  if (now < *next_ns || !atomic_load(&store->uncollected))
    return SPANPROF_OK;
  *next_ns = now + MAINTAIN_COLLECT_NS;
  return sp_store_collect(store);
}

static int64_t maintain_ahead(const sp_store *store) {
  return (int64_t)(sp_clock_unix_ns(store->clock) -
                   sp_clock_monotonic_ns(store->clock));
}

static bool maintain_trusts_clock(const sp_store *store,
                                  maintain_state *state) {
  const uint64_t now = sp_clock_monotonic_ns(store->clock);
  const int64_t ahead = maintain_ahead(store);

  if (ahead - state->ahead_ns > MAINTAIN_LEAP_NS)
    state->trusted_ns = now + MAINTAIN_TRUSTED_NS;
  state->ahead_ns = ahead;
  return now >= state->trusted_ns;
}

static spanprof_status maintain_pass(sp_store *store, maintain_state *state) {
  spanprof_status st = SPANPROF_OK;

  st = sp_store_drop_by_bytes(store);
  if (!st && maintain_trusts_clock(store, state))
    st = sp_store_drop_by_age(store);
  if (!st)
    st = sp_compact(store, false, SP_COMPACT_PROFILES_MAX, &state->seen);
  if (!st)
    st = sp_wide_filter_update(store);
  if (!st)
    st = maintain_collect(store, &state->collect_ns);
  return st;
}

/* Free space, and do nothing else, because uploads wait for the space. */
static spanprof_status maintain_space(sp_store *store) {
  spanprof_status st = sp_store_drop_by_bytes(store);

  pthread_mutex_lock(&store->lock);
  pthread_cond_broadcast(&store->space_freed);
  pthread_mutex_unlock(&store->lock);
  return st;
}

void *sp_store_maintain(void *argument) {
  sp_store *store = argument;
  maintain_state state = {.ahead_ns = maintain_ahead(store)};
  uint64_t next = sp_clock_monotonic_ns(store->clock) + MAINTAIN_EVERY_NS, now;
  spanprof_status st;

  setpriority(PRIO_PROCESS, 0,
              MAINTAIN_NICE); /* on Linux this affects this thread only */
  pthread_mutex_lock(&store->lock);
  while (!store->closing) {
    if (!store->space_needed)
      sp_clock_wait(store->clock, &store->maintenance_wake, &store->lock, next);
    now = sp_clock_monotonic_ns(store->clock);
    if (store->closing || (!store->space_needed && now < next))
      continue;
    store->space_needed = false;
    pthread_mutex_unlock(&store->lock);
    st = now < next ? maintain_space(store) : maintain_pass(store, &state);
    if (now >= next)
      next = sp_clock_monotonic_ns(store->clock) + MAINTAIN_EVERY_NS;
    if (st)
      sp_log_warn(store->log, SP_LOG_OUTPUT,
                  "the maintenance of the store failed: %s",
                  spanprof_last_error());
    pthread_mutex_lock(&store->lock);
  }
  pthread_mutex_unlock(&store->lock);
  return NULL;
}
