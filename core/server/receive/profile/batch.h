/* The profiles of one request, until they are stored. */
#ifndef SP_BATCH_H
#define SP_BATCH_H

#include "raw_check.h"
#include "series_labels.h"
#include "server/model/received.h"
#include "server/model/serve.h"
#include "upload_memory.h"

/* If the profiles of a batch use this memory or more, sp_batch_put_if_large()
 * stores them. */
#define SP_BATCH_WAITING_MAX ((size_t)8 << 20)

typedef struct sp_batch {
  sp_upload *upload;
  sp_serve *serve;
  sp_received **profiles;
  size_t count;
  size_t capacity;
  uint64_t samples;
  size_t bytes;         /* decompressed size of the profiles */
  size_t waiting_bytes; /* bytes of memory of the profiles */
  bool is_one;          /* refuse profiles that would be stored in parts */
} sp_batch;

/* Returns the range of times that --ingest-window allows for data that is
 * received now. */
sp_raw_window sp_batch_window(const sp_serve *serve);

/* Begin a batch, which allocates its memory from the upload. */
void sp_batch_init(sp_batch *batch, sp_upload *upload);
void sp_batch_dispose(sp_batch *batch);

/* Check a profile and add it for sp_batch_put(). Changes the batch and the
 * profile. All parts of a large profile except the last are stored immediately.
 * A refusal does not affect the profiles that were added before it. The upload
 * must be inside the store's gate. */
spanprof_status sp_batch_add(sp_batch *batch, sp_raw_profile *profile,
                             sp_series_labels *labels, sp_refusal *refusal);

/* Store the profiles; they are on disk when this returns. A failure of the
 * store is a refusal of the kind SP_REFUSAL_STORE. The upload must be outside
 * the store's gate. */
spanprof_status sp_batch_put(sp_batch *batch, sp_refusal *refusal);

/* Store the profiles as sp_batch_put() does, but only if they use at least
 * SP_BATCH_WAITING_MAX. If a later profile of the request fails, the sender
 * sends all of them again; those that were stored already count once. */
spanprof_status sp_batch_put_if_large(sp_batch *batch, sp_refusal *refusal);

#endif
