/* The queue of waiting uploads, oldest first, with their size. The exporter's
 * lock guards it. */
#ifndef SP_UPLOAD_QUEUE_H
#define SP_UPLOAD_QUEUE_H

#include "upload.h"

typedef struct sp_upload_queue {
  sp_upload *first;
  sp_upload *last;
  size_t count;
  uint64_t bytes;
} sp_upload_queue;

/* Append an upload. */
void sp_upload_queue_add(sp_upload_queue *queue, sp_upload *upload);

/* Return an upload to its place by number, after a failed try. */
void sp_upload_queue_return(sp_upload_queue *queue, sp_upload *upload);

/* Detach an upload. The detach functions return NULL if there is none. */
sp_upload *sp_upload_queue_detach_first(sp_upload_queue *queue);

/* Detach the first upload that the callback and the output directory have not
 * received. */
sp_upload *sp_upload_queue_detach_new(sp_upload_queue *queue);

/* Detach an upload that they have received and that may be sent at `now_ns`:
 * the first of those with the fewest refusals, so that a bad upload does not
 * block others. */
sp_upload *sp_upload_queue_detach_due(sp_upload_queue *queue, uint64_t now_ns);

/* Detach the first upload that they have received and that the spool has not
 * refused. */
sp_upload *sp_upload_queue_detach_spoolable(sp_upload_queue *queue);

/* Detach the first upload that they have received and that is older than
 * `age_ns` at `now_ns`. */
sp_upload *sp_upload_queue_detach_older(sp_upload_queue *queue, uint64_t now_ns,
                                        uint64_t age_ns);

/* Return the next time at which an upload needs work, or UINT64_MAX if there is
 * none. Uploads that the callback and the output directory have not received
 * need it at `fresh_ns`. */
uint64_t sp_upload_queue_next_ns(const sp_upload_queue *queue,
                                 uint64_t fresh_ns);

/* Have the callback and the output directory received every upload, and, if
 * `spooling`, has the spool refused every one? */
bool sp_upload_queue_all_tried(const sp_upload_queue *queue, bool spooling);

/* Is there an upload with a number up to `number`? */
bool sp_upload_queue_pending(const sp_upload_queue *queue, uint64_t number);

#endif
