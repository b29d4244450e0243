/* The memory of one upload while it is read.
 *
 * A reader's allocations are counted. Small uploads run in parallel. An upload
 * that needs more than SP_UPLOAD_SMALL_BYTES waits until it is the only large
 * one, and no upload may use more than --upload-memory. This bounds the
 * decompressed size of any number of uploads.
 *
 * Threads: the thread that reads the upload. It leaves the store's gate while
 * it waits to be the only large upload, so that the current large upload can
 * enter it. */
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
  size_t most; /* maximum of `bytes` so far */
  bool reads;  /* inside the store's gate */
  bool is_large;
  sp_upload_fault fault; /* reason of a failed allocation */
} sp_upload;

void sp_upload_begin(sp_upload *upload, sp_serve *serve);

/* All memory of the upload must have been freed. */
void sp_upload_end(sp_upload *upload);

/* Enter and leave the store's gate, around reading. An upload leaves it before
 * it waits for anything else. */
void sp_upload_enter(sp_upload *upload);
void sp_upload_leave(sp_upload *upload);

/* Let other large uploads continue if this one is small again. */
void sp_upload_release_if_small(sp_upload *upload);

/* Set a refusal if an allocation failed: the upload is too large, or the server
 * is busy. The latter replaces other refusals, because the sender has to send
 * again. Returns `st` or the status of the refusal. */
spanprof_status sp_upload_explain(const sp_upload *upload, sp_refusal *refusal,
                                  spanprof_status st);

#endif
