/* The way from the signal handlers to the collector.
 *
 * Protocol: K shards, each a ring of bytes with one writer at a time and one
 * reader. A writer is a signal handler (or a thread that books its end, with
 * the signal blocked): it takes a shard by exchanging `busy`, reserves room,
 * fills it in place and commits the length it used with one release store; it
 * tries every shard and never waits. The reader is the collector. A writer that
 * fills a shard to its mark, an eighth, calls the reader; the rest is room for
 * what comes until that runs. What may be lost: a sample that finds all
 * shards taken (busy) or without room (full); both are told to the writer, who
 * counts them. A shard's memory lives as long as the process, so a late writer
 * never writes to what was freed.
 *
 * The reader has a shard that it emptied begin at its start again, as a writer
 * that writes nothing: so the pages of a shard are used, and take memory, as
 * far as it was filled. */
#ifndef SP_RING_H
#define SP_RING_H

#include "util/system/wake.h"

/* The same for every number of cores. Beside 64 threads that want its core too
 * the reader has a small part of it, and at first all modules to learn. What is
 * not filled takes no memory. */
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

/* How many shards keep the threads of that many cores apart. */
unsigned sp_ring_shards(long cores);

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

/* Publish the first `bytes` of the payload (0: nothing). Is the shard now
 * filled to its mark? Then call the reader, soon. */
SP_HANDLER_CODE bool sp_ring_commit(const sp_ring_claim *claim, size_t bytes);

/* What the reader sleeps on. */
SP_HANDLER_CODE sp_wake *sp_ring_wake(sp_ring *ring);

/* Collector: the next payload of any shard from `*shard` on, or NULL; release
 * it before the next call. */
const void *sp_ring_next(sp_ring *ring, unsigned *shard, size_t *bytes);
void sp_ring_release(sp_ring *ring, unsigned shard);

/* Collector: give back the memory of shards that were filled far over their
 * mark and are empty again. */
void sp_ring_trim(sp_ring *ring);

/* Is any writer between reserve and commit? */
bool sp_ring_busy(const sp_ring *ring);

/* Forget everything, also shards left taken; in a forked child. */
void sp_ring_clear(sp_ring *ring);

#endif
