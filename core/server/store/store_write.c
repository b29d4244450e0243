#include "store_inside.h"
#include "util/system/status.h"

/* Longest time that an upload waits for space. If it is refused, its client
 * tries again. */
#define WRITE_WAIT_NS (2 * SP_NS_PER_S)

/* Time between two checks for space during this wait, because space may become
 * free without a signal. */
#define WRITE_LOOK_NS (100 * SP_NS_PER_MS)

void sp_store_budget(sp_store *store, sp_disk_budget *out) {
  sp_disk_budget_read(out, store->path, store->max_bytes);
  atomic_store(&store->limit_bytes, out->limit);
  atomic_store(&store->writer.log_soft_max, out->log_soft_max);
  atomic_store(&store->writer.log_max, out->log_max);
}

static void write_request_space(sp_store *store) {
  pthread_mutex_lock(&store->lock);
  store->space_needed = true;
  pthread_cond_signal(&store->maintenance_wake);
  pthread_mutex_unlock(&store->lock);
}

/* Returns the reason why nothing can be stored now, or NULL. */
static const char *write_obstacle(sp_store *store) {
  const uint64_t used = atomic_load(&store->writer.used_bytes);
  sp_disk_budget budget;

  sp_store_budget(store, &budget);
  if (used > budget.data_high || budget.log > budget.log_max / 2)
    write_request_space(store);
  if (budget.log > budget.log_max / 2)
    return "the log of the store is full while queries read from it: try again";
  if (used <= budget.data_max)
    return NULL;
  return budget.by_volume
             ? "the disk of the store is full: free space on it"
             : "the store is full and deletes its oldest data: try again";
}

static spanprof_status write_wait(sp_store *store) {
  const sp_clock *clock = sp_clock_system();
  const uint64_t until = sp_clock_monotonic_ns(clock) + WRITE_WAIT_NS;
  const char *obstacle;

  while ((obstacle = write_obstacle(store))) {
    const uint64_t now = sp_clock_monotonic_ns(clock);

    if (now >= until)
      return sp_fail(SPANPROF_ERR_IO, "%s", obstacle);
    pthread_mutex_lock(&store->lock);
    sp_clock_wait(clock, &store->space_freed, &store->lock,
                  now + WRITE_LOOK_NS);
    pthread_mutex_unlock(&store->lock);
  }
  return SPANPROF_OK;
}

spanprof_status sp_store_write(sp_store *store, sp_writer_fn fn, void *data) {
  spanprof_status st = write_wait(store);

  if (st)
    return st;
  st = sp_writer_call(&store->writer, fn, data);
  if (st == SPANPROF_ERR_IO)
    write_request_space(store);
  return st;
}
