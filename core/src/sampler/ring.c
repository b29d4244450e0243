#include "ring.h"

#include <string.h>

#include "../util/mem.h"

#define RING_PROBES     3
#define RING_LINE_BYTES 64

/* Stands before every payload. `bytes` counts payload and padding; kind SKIP
 * fills the end of the buffer where a payload would not fit in one piece. */
typedef struct ring_header {
  uint32_t bytes;
  uint32_t kind;
} ring_header;

enum { RING_PAYLOAD = 1, RING_SKIP = 2 };

typedef struct sp_shard {
  /* Written by whoever holds busy. */
  _Atomic uint32_t busy;
  _Atomic uint64_t head;
  uint64_t reserved; /* where the claimed header stands */
  /* Fixed. */
  size_t size;
  char *data;
  char pad[RING_LINE_BYTES - 40];
  /* Written by the collector. */
  _Atomic uint64_t tail;
  char pad2[RING_LINE_BYTES - 8];
} sp_shard;

struct sp_ring {
  unsigned shard_count;
  size_t bytes; /* of everything mapped */
  char pad[RING_LINE_BYTES - 16];
  sp_shard shards[];
};

static size_t bytes_rounded(size_t bytes) {
  return (bytes + 7) & ~(size_t)7;
}

sp_ring *sp_ring_new(unsigned shards, size_t shard_bytes) {
  size_t head = (sizeof(sp_ring) + shards * sizeof(sp_shard) + 4095) & ~4095ul;
  size_t total = head + shards * shard_bytes;
  sp_ring *ring = sp_pages_new(total);
  unsigned i;

  if (!ring)
    return NULL;
  ring->shard_count = shards;
  ring->bytes = total;
  for (i = 0; i < shards; i++) {
    ring->shards[i].size = shard_bytes;
    ring->shards[i].data = (char *)ring + head + i * shard_bytes;
  }
  return ring;
}

void sp_ring_free(sp_ring *ring) {
  if (ring)
    sp_pages_free(ring, ring->bytes);
}

size_t sp_ring_payload_max(const sp_ring *ring) {
  /* Half: a payload as large as that fits, whatever the position, once the
   * shard is empty. */
  return ring->shards[0].size / 2 - sizeof(ring_header);
}

/* With busy held: make room for a header and `bytes`, in one piece. */
static bool shard_reserve(sp_shard *shard, size_t bytes, sp_ring_claim *out) {
  size_t needed = sizeof(ring_header) + bytes_rounded(bytes);
  uint64_t head = atomic_load_explicit(&shard->head, memory_order_relaxed);
  uint64_t tail = atomic_load_explicit(&shard->tail, memory_order_acquire);
  size_t at = head & (shard->size - 1);
  size_t to_end = shard->size - at;
  size_t room = shard->size - (size_t)(head - tail);
  ring_header skip = {.kind = RING_SKIP};

  if (to_end < needed) {
    if (room < to_end + needed)
      return false;
    skip.bytes = (uint32_t)(to_end - sizeof skip);
    memcpy(shard->data + at, &skip, sizeof skip);
    head += to_end;
    atomic_store_explicit(&shard->head, head, memory_order_release);
    at = 0;
  } else if (room < needed) {
    return false;
  }
  shard->reserved = head;
  out->shard = shard;
  out->payload = shard->data + at + sizeof(ring_header);
  return true;
}

sp_ring_result sp_ring_reserve(sp_ring *ring, uint32_t start, size_t bytes,
                               sp_ring_claim *out) {
  sp_ring_result result = SP_RING_BUSY;
  unsigned i;

  if (bytes > sp_ring_payload_max(ring))
    return SP_RING_FULL;
  for (i = 0; i < RING_PROBES; i++) {
    sp_shard *shard = &ring->shards[(start + i) & (ring->shard_count - 1)];

    if (atomic_exchange_explicit(&shard->busy, 1, memory_order_acquire))
      continue;
    if (shard_reserve(shard, bytes, out))
      return SP_RING_OK;
    result = SP_RING_FULL;
    atomic_store_explicit(&shard->busy, 0, memory_order_release);
  }
  return result;
}

void sp_ring_commit(const sp_ring_claim *claim, size_t bytes) {
  sp_shard *shard = claim->shard;
  ring_header header = {.bytes = (uint32_t)bytes_rounded(bytes),
                        .kind = RING_PAYLOAD};

  if (bytes > 0) {
    memcpy((char *)claim->payload - sizeof header, &header, sizeof header);
    atomic_store_explicit(&shard->head,
                          shard->reserved + sizeof header + header.bytes,
                          memory_order_release);
  }
  atomic_store_explicit(&shard->busy, 0, memory_order_release);
}

const void *sp_ring_next(sp_ring *ring, unsigned *shard, size_t *bytes) {
  for (; *shard < ring->shard_count; ++*shard) {
    sp_shard *s = &ring->shards[*shard];
    uint64_t tail = atomic_load_explicit(&s->tail, memory_order_relaxed);

    while (tail != atomic_load_explicit(&s->head, memory_order_acquire)) {
      char *at = s->data + (tail & (s->size - 1));
      ring_header header;

      memcpy(&header, at, sizeof header);
      if (header.kind == RING_PAYLOAD) {
        *bytes = header.bytes;
        return at + sizeof header;
      }
      tail += sizeof header + header.bytes;
      atomic_store_explicit(&s->tail, tail, memory_order_release);
    }
  }
  return NULL;
}

void sp_ring_release(sp_ring *ring, unsigned shard) {
  sp_shard *s = &ring->shards[shard];
  uint64_t tail = atomic_load_explicit(&s->tail, memory_order_relaxed);
  ring_header header;

  memcpy(&header, s->data + (tail & (s->size - 1)), sizeof header);
  atomic_store_explicit(&s->tail, tail + sizeof header + header.bytes,
                        memory_order_release);
}

unsigned sp_ring_fill_percent(const sp_ring *ring) {
  unsigned i, most = 0;

  for (i = 0; i < ring->shard_count; i++) {
    const sp_shard *s = &ring->shards[i];
    uint64_t head = atomic_load_explicit(&s->head, memory_order_relaxed);
    uint64_t tail = atomic_load_explicit(&s->tail, memory_order_relaxed);
    unsigned percent = (unsigned)((head - tail) * 100 / s->size);

    if (percent > most)
      most = percent;
  }
  return most;
}

bool sp_ring_busy(const sp_ring *ring) {
  unsigned i;

  for (i = 0; i < ring->shard_count; i++)
    if (atomic_load_explicit(&ring->shards[i].busy, memory_order_acquire))
      return true;
  return false;
}

void sp_ring_clear(sp_ring *ring) {
  unsigned i;

  for (i = 0; i < ring->shard_count; i++) {
    sp_shard *s = &ring->shards[i];

    atomic_store(&s->head, 0);
    atomic_store(&s->tail, 0);
    atomic_store(&s->busy, 0);
  }
}
