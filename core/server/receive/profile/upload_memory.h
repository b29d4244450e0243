/* The memory of one upload while it is read.
 *
 * All allocations for an upload are counted. Small uploads are read in
 * parallel. An upload that needs more than SP_UPLOAD_SMALL_BYTES waits until it
 * is the only large one, and no upload may use more than --upload-memory. This
 * bounds the decompressed size of any number of uploads.
 *
 * Threads: only the thread that reads the upload may call these functions.
 * While the upload waits to be the only large one, the thread is outside the
 * store's gate (sp_store_gate()), so that the current large upload can enter
 * the gate. */
#ifndef SP_UPLOAD_MEMORY_H
#define SP_UPLOAD_MEMORY_H

#include "server/model/serve.h"
#include "server/receive/wire/refusal.h"

#define SP_UPLOAD_SMALL_BYTES ((size_t)2 << 20)

typedef enum sp_upload_fault {
  SP_UPLOAD_SOUND,
  SP_UPLOAD_LARGE, /* more than --upload-memory */
  SP_UPLOAD_BUSY   /* too many large uploads are waiting */
} sp_upload_fault;

typedef struct sp_upload {
  sp_mem mem;
  sp_serve *serve;
  size_t bytes;
  size_t most; /* largest value of `bytes` so far */
  bool reads;  /* the thread is inside the store's gate */
  bool is_large;
  sp_upload_fault fault; /* reason of a failed allocation */
} sp_upload;

void sp_upload_begin(sp_upload *upload, sp_serve *serve);

/* End an upload, whose memory must have been freed. */
void sp_upload_end(sp_upload *upload);

/* Enter the store's gate before reading the upload, and leave it afterwards.
 * Leave it also before waiting for anything else. */
void sp_upload_enter(sp_upload *upload);
void sp_upload_leave(sp_upload *upload);

/* Let other large uploads continue if this one is small again. */
void sp_upload_release_if_small(sp_upload *upload);

/* If an allocation failed, set a refusal: the upload is too large, or the
 * server is busy. A busy server replaces other refusals, because the sender has
 * to send the upload again. Returns `st`, or the status of the new refusal. */
spanprof_status sp_upload_explain(const sp_upload *upload, sp_refusal *refusal,
                                  spanprof_status st);

#endif
