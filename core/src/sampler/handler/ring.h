/* The queue from the signal handlers to the collector.
 *
 * Protocol: the ring has several shards. Each is a ring of bytes with one
 * writer at a time and one reader. A writer is a signal handler, or a thread
 * that records its own end with the signal blocked. The writer acquires a shard
 * by exchanging `busy`, reserves space, fills it in place, and commits the used
 * length with one release store. It tries every shard and never waits. The
 * reader is the collector. A writer that fills a shard to its mark (an eighth)
 * wakes the reader; the remaining space is for samples that arrive before the
 * reader runs. A sample is lost if every shard is acquired (busy) or has too
 * little space (full). The writer is informed of both and counts them. A
 * shard's memory lives as long as the process, so a late writer never writes to
 * freed memory.
 *
 * The reader resets a shard that it has emptied to the shard's start, acting as
 * a writer that writes nothing. So a shard only uses the pages up to its
 * highest fill level. */
#ifndef SP_RING_H
#define SP_RING_H

#include "util/system/wake.h"

/* The size is the same for every number of cores. If 64 threads compete for the
 * reader's core, the reader gets a small share of it. At first the reader also
 * has to read all modules. Unfilled pages use no memory. */
#define SP_RING_SHARD_BYTES (2u << 20)

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

/* The number of shards with which threads on `cores` cores rarely try the same
 * shard. */
unsigned sp_ring_shards(long cores);

/* `shards` and `shard_bytes` are powers of two. Returns NULL if out of
 * memory. */
sp_ring *sp_ring_new(unsigned shards, size_t shard_bytes);
void sp_ring_free(sp_ring *ring); /* for tests; no writer may be active */

/* The largest payload that can be reserved. */
SP_HANDLER_CODE size_t sp_ring_payload_max(const sp_ring *ring);

/* Reserve `bytes` bytes. `start` spreads writers over the shards. After
 * SP_RING_OK the same thread must call sp_ring_commit() soon. */
SP_HANDLER_CODE sp_ring_result sp_ring_reserve(sp_ring *ring, uint32_t start,
                                               size_t bytes,
                                               sp_ring_claim *out);

/* Publish the first `bytes` bytes of the payload (0: nothing). Returns true if
 * the shard is now filled to its mark; the caller then wakes the reader
 * soon. */
SP_HANDLER_CODE bool sp_ring_commit(const sp_ring_claim *claim, size_t bytes);

/* The wake-up that the reader waits for. */
SP_HANDLER_CODE sp_wake *sp_ring_wake(sp_ring *ring);

/* Collector: the next payload, from shard `*shard` on, or NULL. Release it
 * before the next call. */
const void *sp_ring_next(sp_ring *ring, unsigned *shard, size_t *bytes);
void sp_ring_release(sp_ring *ring, unsigned shard);

/* Collector: return the memory of empty shards that were filled far above their
 * mark to the system. */
void sp_ring_trim(sp_ring *ring);

/* Is any writer between sp_ring_reserve() and sp_ring_commit()? */
bool sp_ring_busy(const sp_ring *ring);

/* Discard all data and release all shards. For a forked child. */
void sp_ring_clear(sp_ring *ring);

#endif
