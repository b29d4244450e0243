/* One upload while it is read: its memory, and its turn.
 *
 * A reader's allocations are counted. Small uploads run in parallel. An upload
 * that needs more than SP_UPLOAD_SMALL_BYTES waits until it is the only large
 * one, and no upload may use more than --upload-memory. This bounds the
 * unpacked size of any number of uploads.
 *
 * Threads: the thread that reads the upload. It releases the store's gate while
 * it waits to be the only large upload, so that the present large one can enter
 * it. */
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
  size_t most; /* of them so far */
  bool reads;  /* has a turn */
  bool is_large;
  sp_upload_fault fault; /* why there was no memory */
} sp_upload;

void sp_upload_begin(sp_upload *upload, sp_serve *serve);

/* With all of its memory freed. */
void sp_upload_end(sp_upload *upload);

/* A turn in the store's gate, for reading; left before the upload waits for
 * anything else. */
void sp_upload_enter(sp_upload *upload);
void sp_upload_leave(sp_upload *upload);

/* Make place for other large ones where this one is none any more. */
void sp_upload_rest(sp_upload *upload);

/* Refuse what failed for want of memory: as too large, or, in place of any
 * other refusal, since the sender has to come again, as the server's fault.
 * Returns `st`, or what the refusal is. */
spanprof_status sp_upload_explain(const sp_upload *upload, sp_refusal *refusal,
                                  spanprof_status st);

#endif
