/* The way from the signal handlers to the collector.
 *
 * Protocol: K shards, each a ring of bytes with one writer at a time and one
 * reader. A writer is a signal handler (or a thread that books its end, with
 * the signal blocked): it takes a shard by exchanging `busy`, reserves room,
 * fills it in place and commits the length it used with one release store; it
 * tries three shards and never waits. The reader is the collector. What may be
 * lost: a sample that finds its shards taken (busy) or without room (full);
 * both are told to the writer, who counts them. A shard's memory lives as long
 * as the process, so a late writer never writes to what was freed. */
#ifndef SP_RING_H
#define SP_RING_H

#include "../util/base.h"

typedef struct sp_ring sp_ring;

typedef struct sp_ring_claim {
  struct sp_shard *shard;
  void *payload; /* aligned to 8 */
} sp_ring_claim;

typedef enum sp_ring_result {
  SP_RING_OK,
  SP_RING_BUSY,
  SP_RING_FULL
} sp_ring_result;

/* `shards` and `shard_bytes` are powers of two. NULL: no memory. */
sp_ring *sp_ring_new(unsigned shards, size_t shard_bytes);
void sp_ring_free(sp_ring *ring); /* tests only: no writer may be left */

/* Largest payload that can ever be reserved. */
SP_HANDLER_CODE size_t sp_ring_payload_max(const sp_ring *ring);

/* Reserve `bytes`; `start` spreads writers over the shards. After SP_RING_OK
 * the same thread calls sp_ring_commit() soon. */
SP_HANDLER_CODE sp_ring_result sp_ring_reserve(sp_ring *ring, uint32_t start,
                                               size_t bytes,
                                               sp_ring_claim *out);

/* Publish the first `bytes` of the payload (0: nothing). */
SP_HANDLER_CODE void sp_ring_commit(const sp_ring_claim *claim, size_t bytes);

/* Collector: the next payload of any shard from `*shard` on, or NULL; release
 * it before the next call. */
const void *sp_ring_next(sp_ring *ring, unsigned *shard, size_t *bytes);
void sp_ring_release(sp_ring *ring, unsigned shard);

/* Bytes of the fullest shard, of its size, in percent. */
unsigned sp_ring_fill_percent(const sp_ring *ring);

/* Is any writer between reserve and commit? */
bool sp_ring_busy(const sp_ring *ring);

/* Forget everything, also shards left taken; in a forked child. */
void sp_ring_clear(sp_ring *ring);

#endif
