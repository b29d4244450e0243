#include "span_members.h"

#include <stdlib.h>
#include <string.h>

#define MEMBERS_MAX ((size_t)1 << 24)

/* The pairs are divided into parts by the highest bits of the span id. */
#define MEMBERS_PARTS      256
#define MEMBERS_PART_SHIFT 56

/* The pending pairs of a part are merged into its chunks when there are
 * MEMBERS_PENDING_MIN of them and at least one for MEMBERS_PENDING_EACH pairs
 * in the chunks. With ten million pairs, each pair is thus rewritten less than
 * ten times. */
#define MEMBERS_PENDING_MIN  2048
#define MEMBERS_PENDING_EACH 8

/* The encoding of a pair. The first byte has the row in MEMBERS_ROW_BITS bits
 * and the number of bytes that follow for the id. These bytes are the
 * difference to the id of the previous pair, lowest byte first. If the row does
 * not fit the first byte, it follows in four bytes. The code always reads and
 * writes eight bytes at the id, whatever its length. */
#define MEMBERS_ROW_BITS   5
#define MEMBERS_ROW_FAR    31
#define MEMBERS_PAIR_BYTES 13

typedef struct sp_span_members_chunk {
  struct sp_span_members_chunk *next;
  uint32_t size;
  uint8_t
      /* With the members above and malloc's header, a chunk has 2 KiB. */
      bytes[2020];
} sp_span_members_chunk;

typedef struct sp_span_members_part {
  sp_span_members_chunk *chunks; /* pairs, ordered by id and row */
  size_t count;
  sp_span_member *pending; /* pairs that are not in `chunks` yet, unordered */
  size_t pending_count, pending_capacity;
} sp_span_members_part;

/* A position for reading or writing pairs. */
typedef struct members_place {
  sp_span_members_chunk *chunk; /* NULL: none left, or none written yet */
  uint32_t at;
  uint64_t span_id; /* id of the previous pair */
} members_place;

static int members_order(const void *a, const void *b) {
  const sp_span_member *left = a, *right = b;

  if (left->span_id != right->span_id)
    return left->span_id < right->span_id ? -1 : 1;
  return (left->row > right->row) - (left->row < right->row);
}

/* Returns the number in little-endian byte order. */
static uint64_t members_order_bytes(uint64_t number) {
  return __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? __builtin_bswap64(number)
                                                : number;
}

/* Read the next pair. Returns false at the end. Unless `spare` is NULL, chunks
 * that have been read completely are added to the list *spare. */
static bool members_get(members_place *place, sp_span_member *member,
                        sp_span_members_chunk **spare) {
  sp_span_members_chunk *chunk = place->chunk;
  const uint8_t *at;
  uint64_t more;
  unsigned bytes;

  if (chunk && place->at == chunk->size) {
    place->chunk = chunk->next;
    place->at = 0;
    if (spare) {
      chunk->next = *spare;
      *spare = chunk;
    }
    chunk = place->chunk;
  }
  if (!chunk)
    return false;
  at = &chunk->bytes[place->at];
  bytes = (*at >> MEMBERS_ROW_BITS) + 1u;
  member->row = *at & MEMBERS_ROW_FAR;
  memcpy(&more, at + 1, sizeof more);
  place->span_id += members_order_bytes(more) & UINT64_MAX >> (64 - 8 * bytes);
  member->span_id = place->span_id;
  if (member->row == MEMBERS_ROW_FAR) {
    memcpy(&member->row, at + 1 + bytes, sizeof member->row);
    bytes += (unsigned)sizeof member->row;
  }
  place->at += 1 + bytes;
  return true;
}

static sp_span_members_chunk *members_chunk(sp_span_members *members,
                                            const sp_mem *mem) {
  sp_span_members_chunk *chunk = members->spare;

  if (chunk)
    members->spare = chunk->next;
  else
    chunk = sp_mem_new(mem, sizeof *chunk);
  if (chunk) {
    chunk->next = NULL;
    chunk->size = 0;
  }
  return chunk;
}

static spanprof_status members_put(sp_span_members *members, const sp_mem *mem,
                                   sp_span_members_part *part,
                                   members_place *place,
                                   const sp_span_member *member) {
  const uint64_t more = member->span_id - place->span_id;
  const bool far = member->row >= MEMBERS_ROW_FAR;
  const uint64_t ordered = members_order_bytes(more);
  unsigned bytes = (71u - (unsigned)__builtin_clzll(more | 1)) / 8;
  sp_span_members_chunk *chunk = place->chunk;
  uint8_t *at;

  if (!chunk || chunk->size + MEMBERS_PAIR_BYTES > sizeof chunk->bytes) {
    chunk = members_chunk(members, mem);
    if (!chunk)
      return SPANPROF_ERR_NOMEM;
    *(place->chunk ? &place->chunk->next : &part->chunks) = chunk;
    place->chunk = chunk;
  }
  at = &chunk->bytes[chunk->size];
  *at = (uint8_t)((bytes - 1) << MEMBERS_ROW_BITS |
                  (far ? MEMBERS_ROW_FAR : member->row));
  memcpy(at + 1, &ordered, sizeof ordered);
  if (far) {
    memcpy(at + 1 + bytes, &member->row, sizeof member->row);
    bytes += (unsigned)sizeof member->row;
  }
  chunk->size += 1 + bytes;
  place->span_id = member->span_id;
  part->count++;
  return SPANPROF_OK;
}

static void members_free(sp_span_members_chunk *chunk, const sp_mem *mem) {
  sp_span_members_chunk *next;

  for (; chunk; chunk = next) {
    next = chunk->next;
    sp_mem_free(mem, chunk);
  }
}

/* Rewrite a part's chunks with its pending pairs, without duplicates. */
static spanprof_status members_merge(sp_span_members *members,
                                     const sp_mem *mem,
                                     sp_span_members_part *part) {
  const sp_span_member *pending = part->pending,
                       *end = pending + part->pending_count;
  members_place in = {.chunk = part->chunks}, out = {0};
  sp_span_member old, next;
  bool has_old = members_get(&in, &old, &members->spare);
  spanprof_status st = SPANPROF_OK;
  int order;

  part->chunks = NULL;
  part->count = 0;
  while (!st && (has_old || pending < end)) {
    order = !has_old ? 1 : pending == end ? -1 : members_order(&old, pending);
    next = order <= 0 ? old : *pending;
    st = members_put(members, mem, part, &out, &next);
    if (order <= 0)
      has_old = members_get(&in, &old, &members->spare);
    while (pending < end && members_order(pending, &next) == 0)
      pending++;
  }
  members_free(in.chunk, mem);
  return st;
}

/* Merge the pending pairs of a part into its chunks. */
static spanprof_status members_flush(sp_span_members *members,
                                     const sp_mem *mem,
                                     sp_span_members_part *part) {
  spanprof_status st;

  if (part->pending_count == 0)
    return SPANPROF_OK;
  qsort(part->pending, part->pending_count, sizeof *part->pending,
        members_order);
  members->count -= part->count;
  st = members_merge(members, mem, part);
  members->count += part->count;
  part->pending_count = 0;
  return st || members->count <= MEMBERS_MAX ? st : SPANPROF_ERR_LIMIT;
}

/* Reserve memory for another pending pair. This may merge the pending pairs
 * into the chunks. */
static spanprof_status members_reserve(sp_span_members *members,
                                       const sp_mem *mem,
                                       sp_span_members_part *part) {
  size_t capacity;
  spanprof_status st;

  if (part->pending_count < MEMBERS_PENDING_MIN)
    return sp_mem_reserve(mem, (void **)&part->pending, &part->pending_capacity,
                          part->pending_count + 1, sizeof *part->pending);
  if (part->pending_count < part->pending_capacity)
    return SPANPROF_OK;
  st = members_flush(members, mem, part);
  capacity = part->count / MEMBERS_PENDING_EACH;
  if (st || capacity <= part->pending_capacity)
    return st;
  sp_mem_free(mem, part->pending);
  part->pending = sp_mem_new(mem, capacity * sizeof *part->pending);
  part->pending_capacity = part->pending ? capacity : 0;
  return part->pending ? SPANPROF_OK : SPANPROF_ERR_NOMEM;
}

spanprof_status sp_span_members_add(sp_span_members *members, const sp_mem *mem,
                                    uint64_t span_id, uint32_t row) {
  sp_span_members_part *part;
  spanprof_status st;

  if (!members->parts)
    members->parts = sp_mem_zero(mem, MEMBERS_PARTS * sizeof *members->parts);
  if (!members->parts)
    return SPANPROF_ERR_NOMEM;
  part = &members->parts[span_id >> MEMBERS_PART_SHIFT];
  st = members_reserve(members, mem, part);
  if (!st)
    part->pending[part->pending_count++] =
        (sp_span_member){.span_id = span_id, .row = row};
  return st;
}

spanprof_status sp_span_members_each(sp_span_members *members,
                                     const sp_mem *mem, sp_span_member_fn fn,
                                     void *data) {
  spanprof_status st = SPANPROF_OK;
  size_t i;

  for (i = 0; !st && members->parts && i < MEMBERS_PARTS; i++) {
    sp_span_members_part *part = &members->parts[i];
    members_place place = {0};
    sp_span_member member;

    st = members_flush(members, mem, part);
    place.chunk = part->chunks;
    while (!st && members_get(&place, &member, NULL))
      st = fn(data, &member);
  }
  return st;
}

void sp_span_members_dispose(sp_span_members *members, const sp_mem *mem) {
  size_t i;

  for (i = 0; members->parts && i < MEMBERS_PARTS; i++) {
    members_free(members->parts[i].chunks, mem);
    sp_mem_free(mem, members->parts[i].pending);
  }
  members_free(members->spare, mem);
  sp_mem_free(mem, members->parts);
  *members = (sp_span_members){0};
}
