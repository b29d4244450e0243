/* The profiles of one request on their way into the store. */
#ifndef SP_BATCH_H
#define SP_BATCH_H

#include "raw_check.h"
#include "series_labels.h"
#include "server/model/received.h"
#include "server/model/serve.h"
#include "upload_memory.h"

/* Profiles that are kept until the next put: above, it is time for one. */
#define SP_BATCH_HELD_MAX ((size_t)8 << 20)

typedef struct sp_batch {
  sp_upload *upload;
  sp_serve *serve;
  sp_received **profiles;
  size_t count;
  size_t room;
  uint64_t samples;
  size_t bytes; /* unpacked, of what is taken */
  size_t held;  /* of memory */
  bool is_one;  /* refuse a profile that would be stored in parts */
} sp_batch;

/* The range of times that the options allow for data received now. */
sp_raw_window sp_batch_window(const sp_serve *serve);

/* Memory is the upload's. */
void sp_batch_init(sp_batch *batch, sp_upload *upload);
void sp_batch_dispose(sp_batch *batch);

/* Apply every rule to a profile and keep it for sp_batch_put(). Changes the
 * batch and the profile. All parts of a large profile but the last are stored
 * at once. A refusal does not affect profiles added before. Requires the
 * upload's turn. */
spanprof_status sp_batch_add(sp_batch *batch, sp_raw_profile *profile,
                             sp_series_labels *labels, sp_refusal *refusal);

/* Into the store; durable when this returns. A failure of the store is a
 * refusal of the kind SP_REFUSAL_STORE. Without a turn of the upload. */
spanprof_status sp_batch_put(sp_batch *batch, sp_refusal *refusal);

/* The same between two profiles, where much is held. Should a later part fail,
 * its sender comes again, and what is there counts once. */
spanprof_status sp_batch_put_much(sp_batch *batch, sp_refusal *refusal);

#endif
