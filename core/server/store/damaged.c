#include <inttypes.h>

#include "store_inside.h"
#include "util/system/status.h"

/* Remember a damaged block. Returns true the first time. */
static bool damaged_note(sp_store *store, int64_t block) {
  size_t i;
  bool is_new;

  pthread_mutex_lock(&store->lock);
  for (i = 0; i < store->damaged_count && store->damaged[i] != block; i++)
    ;
  is_new = i == store->damaged_count && i < SP_COUNT_OF(store->damaged);
  if (is_new)
    store->damaged[store->damaged_count++] = block;
  pthread_mutex_unlock(&store->lock);
  return is_new;
}

bool sp_store_skip_damaged(sp_store *store, int64_t block, spanprof_status st) {
  if (st != SPANPROF_ERR_FORMAT)
    return false;
  if (damaged_note(store, block))
    sp_log_line(store->log, SPANPROF_LOG_WARN,
                "block %" PRId64 " of the store is damaged: it is not "
                "changed, and its profiles cannot be shown",
                block);
  return true;
}
