/* The queue of waiting uploads, oldest first, and their total size. The
 * exporter's lock guards the queue. */
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

/* After a failed try, return an upload to its place in the queue, which is
 * ordered by number. */
void sp_upload_queue_return(sp_upload_queue *queue, sp_upload *upload);

/* Detach the first upload. This function and the next four return NULL if there
 * is no such upload. */
sp_upload *sp_upload_queue_detach_first(sp_upload_queue *queue);

/* Detach the first new upload. An upload is new until the callback on_profile
 * and the output directory have received it. */
sp_upload *sp_upload_queue_detach_new(sp_upload_queue *queue);

/* Detach an upload that is not new and that may be sent at `now_ns`: the first
 * of those with the fewest refusals, so that a bad upload does not block
 * others. */
sp_upload *sp_upload_queue_detach_due(sp_upload_queue *queue, uint64_t now_ns);

/* Detach the first upload that is not new and that the spool has not refused.
 */
sp_upload *sp_upload_queue_detach_spoolable(sp_upload_queue *queue);

/* Detach the first upload that is not new and that is older than `age_ns` at
 * `now_ns`. */
sp_upload *sp_upload_queue_detach_older(sp_upload_queue *queue, uint64_t now_ns,
                                        uint64_t age_ns);

/* Return the next time at which an upload needs work, or UINT64_MAX if there
 * are no uploads. New uploads need work at `fresh_ns`. */
uint64_t sp_upload_queue_next_ns(const sp_upload_queue *queue,
                                 uint64_t fresh_ns);

/* Return true if no upload is new and, if `spooling` is set, the spool has
 * refused every upload. */
bool sp_upload_queue_all_tried(const sp_upload_queue *queue, bool spooling);

/* Is there an upload whose number is at most `number`? */
bool sp_upload_queue_pending(const sp_upload_queue *queue, uint64_t number);

#endif
