#include "ring.h"

#include <string.h>

#include "util/memory/mem.h"

#define RING_SHARDS_MIN 8
#define RING_SHARDS_MAX 64

/* Fractions of a shard's size: the fill level at which the reader is woken, and
 * the fill level up to which a shard keeps its memory. */
#define RING_MARK_PART 8
#define RING_KEEP_PART 4

/* Bytes at the start of each used shard that are touched in advance, so that
 * the handler rarely writes to an untouched page. A thread writes half of this
 * in 150 ms. Most programs have fewer threads than there are shards. */
#define RING_PREFAULT_BYTES (64u << 10)
#define RING_PAGE_BYTES     4096u

/* The header of every payload. `bytes` counts payload and padding. A header of
 * kind RING_SKIP fills the end of the buffer if a payload would not fit there
 * in one piece. */
typedef struct ring_header {
  uint32_t bytes;
  uint32_t kind;
} ring_header;

enum { RING_PAYLOAD = 1, RING_SKIP = 2 };

typedef struct sp_shard {
  /* Only the thread that has set `busy` writes these fields. */
  _Atomic uint32_t busy;
  _Atomic uint64_t head;
  uint64_t reserved; /* position of the reserved header */
  /* Fixed. */
  size_t size;
  char *data;
  char pad[SP_CACHE_LINE - 40];
  /* Only the collector writes these fields. */
  _Atomic uint64_t tail;
  size_t touched; /* highest offset used since the last trim */
  bool prefaulted;
  char pad2[SP_CACHE_LINE - 24];
} sp_shard;

struct sp_ring {
  unsigned shard_count;
  size_t bytes; /* size of the mapping */
  char pad[SP_CACHE_LINE - 16];
  sp_wake wake;
  char pad2[SP_CACHE_LINE - 4];
  sp_shard shards[];
};

SP_SIGNAL_SAFE static size_t bytes_rounded(size_t bytes) {
  return (bytes + 7) & ~(size_t)7;
}

unsigned sp_ring_shards(long cores) {
  unsigned shards = RING_SHARDS_MIN;

  while (shards < RING_SHARDS_MAX && (long)shards < 2 * cores)
    shards *= 2;
  return shards;
}

static size_t prefault_bytes(size_t shard_bytes) {
  return (size_t)sp_min_u64(shard_bytes, RING_PREFAULT_BYTES);
}

/* Write to each of the first pages, so that no handler is the first to touch
 * them. The caller has acquired the shard, which is empty. */
static void shard_prefault(sp_shard *shard) {
  size_t at;

  shard->prefaulted = true;
  for (at = 0; at < prefault_bytes(shard->size); at += RING_PAGE_BYTES)
    *(volatile char *)(shard->data + at) = 0;
}

sp_ring *sp_ring_new(unsigned shards, size_t shard_bytes) {
  size_t head = (sizeof(sp_ring) + shards * sizeof(sp_shard) + 4095) & ~4095ul;
  size_t total = head + shards * shard_bytes;
  sp_ring *ring = sp_pages_reserve(total);
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
  /* Half of a shard, because a payload of this size fits at any position of an
   * empty shard. */
  return ring->shards[0].size / 2 - sizeof(ring_header);
}

SP_HANDLER_CODE static bool shard_acquire(sp_shard *shard) {
  return !atomic_exchange_explicit(&shard->busy, 1, memory_order_acquire);
}

SP_HANDLER_CODE static void shard_release(sp_shard *shard) {
  atomic_store_explicit(&shard->busy, 0, memory_order_release);
}

/* Reserve contiguous space for a header and `bytes` bytes. The caller has
 * acquired the shard. */
SP_SIGNAL_SAFE static bool shard_reserve(sp_shard *shard, size_t bytes,
                                         sp_ring_claim *out) {
  size_t needed = sizeof(ring_header) + bytes_rounded(bytes);
  uint64_t head = atomic_load_explicit(&shard->head, memory_order_relaxed);
  uint64_t tail = atomic_load_explicit(&shard->tail, memory_order_acquire);
  size_t at = head & (shard->size - 1);
  size_t to_end = shard->size - at;
  size_t space = shard->size - (size_t)(head - tail);
  ring_header skip = {.kind = RING_SKIP};

  if (to_end < needed) {
    if (space < to_end + needed)
      return false;
    skip.bytes = (uint32_t)(to_end - sizeof skip);
    memcpy(shard->data + at, &skip, sizeof skip);
    head += to_end;
    atomic_store_explicit(&shard->head, head, memory_order_release);
    at = 0;
  } else if (space < needed) {
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
  for (i = 0; i < ring->shard_count; i++) {
    sp_shard *shard = &ring->shards[(start + i) & (ring->shard_count - 1)];

    if (!shard_acquire(shard))
      continue;
    if (shard_reserve(shard, bytes, out))
      return SP_RING_OK;
    result = SP_RING_FULL;
    shard_release(shard);
  }
  return result;
}

bool sp_ring_commit(const sp_ring_claim *claim, size_t bytes) {
  sp_shard *shard = claim->shard;
  uint64_t head = shard->reserved, tail;
  ring_header header = {.bytes = (uint32_t)bytes_rounded(bytes),
                        .kind = RING_PAYLOAD};

  if (bytes > 0) {
    memcpy((char *)claim->payload - sizeof header, &header, sizeof header);
    head += sizeof header + header.bytes;
    atomic_store_explicit(&shard->head, head, memory_order_release);
  }
  tail = atomic_load_explicit(&shard->tail, memory_order_relaxed);
  shard_release(shard);
  return head - tail >= shard->size / RING_MARK_PART;
}

sp_wake *sp_ring_wake(sp_ring *ring) {
  return &ring->wake;
}

/* If the shard is empty, reset it to its start and return true. The reader
 * calls this on a shard that it has acquired. */
static bool shard_restart(sp_shard *shard) {
  uint64_t head = atomic_load_explicit(&shard->head, memory_order_relaxed);

  if (head != atomic_load_explicit(&shard->tail, memory_order_relaxed))
    return false;
  head = (head + shard->size - 1) & ~(uint64_t)(shard->size - 1);
  atomic_store_explicit(&shard->head, head, memory_order_release);
  atomic_store_explicit(&shard->tail, head, memory_order_release);
  return true;
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
    if ((tail & (s->size - 1)) != 0 && shard_acquire(s)) {
      if (shard_restart(s) && !s->prefaulted)
        shard_prefault(s);
      shard_release(s);
    }
  }
  return NULL;
}

void sp_ring_release(sp_ring *ring, unsigned shard) {
  sp_shard *s = &ring->shards[shard];
  uint64_t tail = atomic_load_explicit(&s->tail, memory_order_relaxed);
  size_t at = tail & (s->size - 1), end;
  ring_header header;

  memcpy(&header, s->data + at, sizeof header);
  end = at + sizeof header + header.bytes;
  if (end > s->touched)
    s->touched = end;
  atomic_store_explicit(&s->tail, tail + sizeof header + header.bytes,
                        memory_order_release);
}

void sp_ring_trim(sp_ring *ring) {
  unsigned i;

  for (i = 0; i < ring->shard_count; i++) {
    sp_shard *shard = &ring->shards[i];
    size_t kept = prefault_bytes(shard->size);

    if (shard->touched <= shard->size / RING_KEEP_PART || !shard_acquire(shard))
      continue;
    if (shard_restart(shard)) {
      sp_pages_discard(shard->data + kept, shard->size - kept);
      shard->touched = 0;
    }
    shard_release(shard);
  }
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

  sp_wake_clear(&ring->wake);
  for (i = 0; i < ring->shard_count; i++) {
    sp_shard *s = &ring->shards[i];

    atomic_store(&s->head, 0);
    atomic_store(&s->tail, 0);
    atomic_store(&s->busy, 0);
  }
}
