/* The uploads that wait, oldest first, and how many bytes they hold. No lock of
 * its own: the exporter's guards it. */
#ifndef SP_UPLOAD_QUEUE_H
#define SP_UPLOAD_QUEUE_H

#include "upload.h"

typedef struct sp_upload_queue {
  sp_upload *first;
  sp_upload *last;
  size_t count;
  uint64_t bytes;
} sp_upload_queue;

/* Behind all others. */
void sp_upload_queue_add(sp_upload_queue *queue, sp_upload *upload);

/* Back to its place by number, after a try that failed. */
void sp_upload_queue_return(sp_upload_queue *queue, sp_upload *upload);

/* Take out. NULL: there is none. */
sp_upload *sp_upload_queue_detach_first(sp_upload_queue *queue);

/* The first that callback and output directory have not had. */
sp_upload *sp_upload_queue_detach_new(sp_upload_queue *queue);

/* One that they have had and that may be sent at `now_ns`: of those with the
 * fewest refusals the first, so that a bad one never blocks the others. */
sp_upload *sp_upload_queue_detach_due(sp_upload_queue *queue, uint64_t now_ns);

/* The first that they have had and that the spool has not refused. */
sp_upload *sp_upload_queue_detach_spoolable(sp_upload_queue *queue);

/* The first that they have had and that is older than `age_ns` at `now_ns`. */
sp_upload *sp_upload_queue_detach_older(sp_upload_queue *queue, uint64_t now_ns,
                                        uint64_t age_ns);

/* When there is something to do, UINT64_MAX where there is nothing: those that
 * callback and output directory have not had have theirs at `fresh_ns`. */
uint64_t sp_upload_queue_next_ns(const sp_upload_queue *queue,
                                 uint64_t fresh_ns);

/* Has every upload been passed to the callback and the output directory, and,
 * if `spooling`, been refused by the spool? */
bool sp_upload_queue_all_tried(const sp_upload_queue *queue, bool spooling);

/* Is there one with a number up to `number`? */
bool sp_upload_queue_pending(const sp_upload_queue *queue, uint64_t number);

#endif
