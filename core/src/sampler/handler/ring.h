/* The queue from the signal handlers to the collector.
 *
 * Protocol: the ring has several shards. Each shard is a ring of bytes with one
 * writer at a time and one reader. A writer is a signal handler, or a thread
 * that records its own end while it blocks the signal. The writer acquires a
 * shard by exchanging `busy`, reserves space, fills it in place, and commits
 * the used length with one release store. It tries every shard and never waits.
 * The reader is the collector. A writer that fills a shard to an eighth wakes
 * the reader; the remaining space is for samples that arrive before the reader
 * runs. A sample is lost if every shard is acquired by another writer (busy) or
 * has too little space (full). sp_ring_reserve() returns which of them it was,
 * and the writer counts it. A shard's memory lives as long as the process, so a
 * late writer never writes to freed memory.
 *
 * When the reader has emptied a shard, it acquires the shard like a writer and
 * resets it to its start. So a shard uses only the pages up to its highest fill
 * level. */
#ifndef SP_RING_H
#define SP_RING_H

#include "util/system/wake.h"

/* Size of a shard. It does not depend on the number of cores, because 64
 * threads that compete for the reader's core leave it a small share of that
 * core. At the start the reader must also read all modules. Pages that are
 * never filled use no memory. */
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

/* Create a ring. `shards` and `shard_bytes` are powers of two. Returns NULL if
 * there is no memory. */
sp_ring *sp_ring_new(unsigned shards, size_t shard_bytes);
void sp_ring_free(sp_ring *ring); /* for tests; no writer may be active */

/* The size of the largest payload that can be reserved. */
SP_HANDLER_CODE size_t sp_ring_payload_max(const sp_ring *ring);

/* Reserve `bytes` bytes. `start` distributes writers over the shards. After
 * SP_RING_OK, the same thread must soon call sp_ring_commit(). */
SP_HANDLER_CODE sp_ring_result sp_ring_reserve(sp_ring *ring, uint32_t start,
                                               size_t bytes,
                                               sp_ring_claim *out);

/* Publish the first `bytes` bytes of the payload (0: nothing). Returns true if
 * an eighth of the shard is now filled; the caller then soon wakes the
 * reader. */
SP_HANDLER_CODE bool sp_ring_commit(const sp_ring_claim *claim, size_t bytes);

/* The wake-up that the reader waits for. */
SP_HANDLER_CODE sp_wake *sp_ring_wake(sp_ring *ring);

/* Called by the collector: get the next payload, beginning with shard `*shard`,
 * or NULL. The caller releases the payload before the next call. */
const void *sp_ring_next(sp_ring *ring, unsigned *shard, size_t *bytes);
void sp_ring_release(sp_ring *ring, unsigned shard);

/* Called by the collector: return the memory of empty shards to the system if
 * they had been filled to more than a quarter. */
void sp_ring_trim(sp_ring *ring);

/* Is any writer between sp_ring_reserve() and sp_ring_commit()? */
bool sp_ring_busy(const sp_ring *ring);

/* Called in a forked child: discard all data and release all shards. */
void sp_ring_clear(sp_ring *ring);

#endif
