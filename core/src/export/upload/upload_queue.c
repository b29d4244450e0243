#include "upload_queue.h"

#include <assert.h>

/* Return the memory that an upload uses. */
static uint64_t upload_bytes(const sp_upload *upload) {
  return sizeof *upload + upload->part.size;
}

static void queue_insert(sp_upload_queue *queue, sp_upload *before,
                         sp_upload *upload) {
  sp_upload **link = before ? &before->next : &queue->first;

  upload->next = *link;
  *link = upload;
  if (!upload->next)
    queue->last = upload;
  queue->count++;
  queue->bytes += upload_bytes(upload);
}

static sp_upload *queue_remove(sp_upload_queue *queue, sp_upload *before) {
  sp_upload **link = before ? &before->next : &queue->first;
  sp_upload *upload = *link;

  if (!upload)
    return NULL;
  *link = upload->next;
  if (queue->last == upload)
    queue->last = before;
  upload->next = NULL;
  queue->count--;
  queue->bytes -= upload_bytes(upload);
  return upload;
}

void sp_upload_queue_add(sp_upload_queue *queue, sp_upload *upload) {
  assert(!queue->last || queue->last->number < upload->number);
  queue_insert(queue, queue->last, upload);
}

void sp_upload_queue_return(sp_upload_queue *queue, sp_upload *upload) {
  sp_upload *before = NULL, *at = queue->first;

  for (; at && at->number < upload->number; at = at->next)
    before = at;
  queue_insert(queue, before, upload);
}

sp_upload *sp_upload_queue_detach_first(sp_upload_queue *queue) {
  return queue_remove(queue, NULL);
}

sp_upload *sp_upload_queue_detach_new(sp_upload_queue *queue) {
  sp_upload *before = NULL, *at = queue->first;

  for (; at && at->local_tried; at = at->next)
    before = at;
  return queue_remove(queue, before);
}

sp_upload *sp_upload_queue_detach_due(sp_upload_queue *queue, uint64_t now_ns) {
  sp_upload *before = NULL, *at = queue->first;
  sp_upload *best = NULL, *best_before = NULL;

  for (; at; before = at, at = at->next)
    if (at->local_tried && at->tries.retry_ns <= now_ns &&
        (!best || at->tries.refusals < best->tries.refusals)) {
      best = at;
      best_before = before;
    }
  return best ? queue_remove(queue, best_before) : NULL;
}

sp_upload *sp_upload_queue_detach_spoolable(sp_upload_queue *queue) {
  sp_upload *before = NULL, *at = queue->first;

  for (; at && (!at->local_tried || at->spool_refused); at = at->next)
    before = at;
  return queue_remove(queue, before);
}

sp_upload *sp_upload_queue_detach_older(sp_upload_queue *queue, uint64_t now_ns,
                                        uint64_t age_ns) {
  sp_upload *before = NULL, *at = queue->first;

  for (; at && (!at->local_tried || now_ns - at->tries.began_ns <= age_ns);
       at = at->next)
    before = at;
  return queue_remove(queue, before);
}

uint64_t sp_upload_queue_next_ns(const sp_upload_queue *queue,
                                 uint64_t fresh_ns) {
  const sp_upload *at = queue->first;
  uint64_t next_ns = UINT64_MAX;

  for (; at; at = at->next)
    next_ns =
        sp_min_u64(next_ns, at->local_tried ? at->tries.retry_ns : fresh_ns);
  return next_ns;
}

bool sp_upload_queue_all_tried(const sp_upload_queue *queue, bool spooling) {
  const sp_upload *at = queue->first;

  while (at && at->local_tried && (at->spool_refused || !spooling))
    at = at->next;
  return !at;
}

bool sp_upload_queue_pending(const sp_upload_queue *queue, uint64_t number) {
  return queue->first && queue->first->number <= number;
}
