#include <sys/resource.h>

#include "../../util/status.h"
#include "compact.h"
#include "wide_filter.h"

/* How often there is a look at what can be compacted and what has to go. */
#define KEEP_EVERY_NS (20 * SP_NS_PER_S)

/* How often, at most, names and stacks of dropped profiles are looked for: that
 * reads a part of every block. */
#define KEEP_COLLECT_NS (3600 * SP_NS_PER_S)

/* The keeper's thread packs for seconds what came in hours: uploads and queries
 * come first where all cores are busy. A third of their weight, for the store's
 * close waits for it. */
#define KEEP_NICE 5

bool sp_store_ends(sp_store *store) {
  bool ending;

  pthread_mutex_lock(&store->lock);
  ending = store->ending;
  pthread_mutex_unlock(&store->lock);
  return ending;
}

spanprof_status sp_store_compact(sp_store *store) {
  sp_compact_seen seen = {0, 0};
  spanprof_status st = sp_compact(store, true, &seen);

  return st ? st : sp_wide_filter_keep(store);
}

static spanprof_status keep_collect(sp_store *store, uint64_t *next_ns) {
  const uint64_t now = sp_clock_monotonic_ns(store->clock);

  if (now < *next_ns || !atomic_load(&store->uncollected))
    return SPANPROF_OK;
  *next_ns = now + KEEP_COLLECT_NS;
  return sp_store_collect(store);
}

void *sp_store_keep(void *argument) {
  sp_store *store = argument;
  sp_compact_seen seen = {0, 0};
  uint64_t collect_ns = 0;
  spanprof_status st;

  setpriority(PRIO_PROCESS, 0, KEEP_NICE); /* on Linux: of the thread alone */
  pthread_mutex_lock(&store->lock);
  while (!store->ending) {
    sp_clock_wait(store->clock, &store->keeper_wake, &store->lock,
                  sp_clock_monotonic_ns(store->clock) + KEEP_EVERY_NS);
    if (store->ending)
      break;
    pthread_mutex_unlock(&store->lock);
    st = sp_store_drop_old(store);
    if (!st)
      st = sp_compact(store, false, &seen);
    if (!st)
      st = sp_wide_filter_keep(store);
    if (!st)
      st = keep_collect(store, &collect_ns);
    if (st)
      sp_log_warn(store->log, SP_LOG_OUTPUT, "cannot tidy the store: %s",
                  spanprof_last_error());
    pthread_mutex_lock(&store->lock);
  }
  pthread_mutex_unlock(&store->lock);
  return NULL;
}
