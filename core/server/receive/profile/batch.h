/* The profiles of one request, until they are stored. */
#ifndef SP_BATCH_H
#define SP_BATCH_H

#include "raw_check.h"
#include "series_labels.h"
#include "server/model/received.h"
#include "server/model/serve.h"
#include "upload_memory.h"

/* Memory of profiles that wait for the next put. Above it, call
 * sp_batch_put_if_large(). */
#define SP_BATCH_WAITING_MAX ((size_t)8 << 20)

typedef struct sp_batch {
  sp_upload *upload;
  sp_serve *serve;
  sp_received **profiles;
  size_t count;
  size_t capacity;
  uint64_t samples;
  size_t bytes;         /* of accepted profiles, decompressed */
  size_t waiting_bytes; /* bytes of memory of waiting profiles */
  bool is_one;          /* refuse a profile that would be stored in parts */
} sp_batch;

/* Returns the range of times that --ingest-window allows for data received now.
 */
sp_raw_window sp_batch_window(const sp_serve *serve);

/* Memory is allocated from the upload. */
void sp_batch_init(sp_batch *batch, sp_upload *upload);
void sp_batch_dispose(sp_batch *batch);

/* Check a profile and add it for sp_batch_put(). Changes the batch and the
 * profile. All parts of a large profile except the last are stored immediately.
 * A refusal does not affect profiles that were added before. The upload must be
 * inside the store's gate. */
spanprof_status sp_batch_add(sp_batch *batch, sp_raw_profile *profile,
                             sp_series_labels *labels, sp_refusal *refusal);

/* Store the profiles; they are on disk when this returns. A failure of the
 * store is a refusal of the kind SP_REFUSAL_STORE. The upload must be outside
 * the store's gate. */
spanprof_status sp_batch_put(sp_batch *batch, sp_refusal *refusal);

/* The same, but only if the waiting profiles use much memory. If a later
 * profile fails, the sender sends all again, and the stored ones count once. */
spanprof_status sp_batch_put_if_large(sp_batch *batch, sp_refusal *refusal);

#endif
