#include "span_members.h"

#include <stdlib.h>
#include <string.h>

#define MEMBERS_MAX ((size_t)1 << 24)

/* By the highest bits of ids. */
#define MEMBERS_PARTS      256
#define MEMBERS_PART_SHIFT 56

/* Late ones are so many, or one for each so many others: of ten million pairs
 * each is written anew less than ten times, of few none. */
#define MEMBERS_LATE_MIN  2048
#define MEMBERS_LATE_EACH 8

/* A pair: in one byte how many bytes follow and the row, how much larger its id
 * is than the one before, and in four bytes a row that the first has no room
 * for. Eight bytes are read and written of any id. */
#define MEMBERS_ROW_BITS   5
#define MEMBERS_ROW_FAR    31
#define MEMBERS_PAIR_BYTES 13

typedef struct sp_span_members_chunk {
  struct sp_span_members_chunk *next;
  uint32_t size;
  uint8_t bytes[2020]; /* with malloc's own, and what is before it: 2 KiB */
} sp_span_members_chunk;

typedef struct sp_span_members_part {
  sp_span_members_chunk *chunks; /* pairs by ids and rows */
  size_t count;
  sp_span_member *late; /* pairs that are not in there yet, in any order */
  size_t late_count, late_room;
} sp_span_members_part;

/* Where pairs are read, or written. */
typedef struct members_place {
  sp_span_members_chunk *chunk; /* NULL: none is left; none is begun */
  uint32_t at;
  uint64_t span_id; /* of the pair before */
} members_place;

static int members_order(const void *a, const void *b) {
  const sp_span_member *left = a, *right = b;

  if (left->span_id != right->span_id)
    return left->span_id < right->span_id ? -1 : 1;
  return (left->row > right->row) - (left->row < right->row);
}

/* The lowest byte first. */
static uint64_t members_order_bytes(uint64_t number) {
  return __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? __builtin_bswap64(number)
                                                : number;
}

/* The next pair; false: that was the last. What was read goes to `*spare`,
 * where that is given. */
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

/* Write both kinds of pairs anew, each once. */
static spanprof_status members_merge(sp_span_members *members,
                                     const sp_mem *mem,
                                     sp_span_members_part *part) {
  const sp_span_member *late = part->late, *end = late + part->late_count;
  members_place in = {.chunk = part->chunks}, out = {0};
  sp_span_member old, next;
  bool has_old = members_get(&in, &old, &members->spare);
  spanprof_status st = SPANPROF_OK;
  int order;

  part->chunks = NULL;
  part->count = 0;
  while (!st && (has_old || late < end)) {
    order = !has_old ? 1 : late == end ? -1 : members_order(&old, late);
    next = order <= 0 ? old : *late;
    st = members_put(members, mem, part, &out, &next);
    if (order <= 0)
      has_old = members_get(&in, &old, &members->spare);
    while (late < end && members_order(late, &next) == 0)
      late++;
  }
  members_free(in.chunk, mem);
  return st;
}

/* Put the late pairs among the others. */
static spanprof_status members_fold(sp_span_members *members, const sp_mem *mem,
                                    sp_span_members_part *part) {
  spanprof_status st;

  if (part->late_count == 0)
    return SPANPROF_OK;
  qsort(part->late, part->late_count, sizeof *part->late, members_order);
  members->count -= part->count;
  st = members_merge(members, mem, part);
  members->count += part->count;
  part->late_count = 0;
  return st || members->count <= MEMBERS_MAX ? st : SPANPROF_ERR_LIMIT;
}

/* Room for another late pair. */
static spanprof_status members_room(sp_span_members *members, const sp_mem *mem,
                                    sp_span_members_part *part) {
  size_t room;
  spanprof_status st;

  if (part->late_count < MEMBERS_LATE_MIN)
    return sp_mem_reserve(mem, (void **)&part->late, &part->late_room,
                          part->late_count + 1, sizeof *part->late);
  if (part->late_count < part->late_room)
    return SPANPROF_OK;
  st = members_fold(members, mem, part);
  room = part->count / MEMBERS_LATE_EACH;
  if (st || room <= part->late_room)
    return st;
  sp_mem_free(mem, part->late);
  part->late = sp_mem_new(mem, room * sizeof *part->late);
  part->late_room = part->late ? room : 0;
  return part->late ? SPANPROF_OK : SPANPROF_ERR_NOMEM;
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
  st = members_room(members, mem, part);
  if (!st)
    part->late[part->late_count++] =
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

    st = members_fold(members, mem, part);
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
    sp_mem_free(mem, members->parts[i].late);
  }
  members_free(members->spare, mem);
  sp_mem_free(mem, members->parts);
  *members = (sp_span_members){0};
}
