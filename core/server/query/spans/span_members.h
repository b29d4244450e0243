/* Which spans are in which rows of a table, each pair once, in some 7 bytes: a
 * week has ten million. */
#ifndef SP_SPAN_MEMBERS_H
#define SP_SPAN_MEMBERS_H

#include "util/memory/mem.h"

typedef struct sp_span_member {
  uint64_t span_id;
  uint32_t row;
} sp_span_member;

/* Zeroed: empty. */
typedef struct sp_span_members {
  struct sp_span_members_part *parts; /* NULL: empty */
  struct sp_span_members_chunk *spare;
  size_t count; /* of pairs, but for those that came last */
} sp_span_members;

/* SPANPROF_ERR_NOMEM, SPANPROF_ERR_LIMIT: 2^24 pairs. */
spanprof_status sp_span_members_add(sp_span_members *members, const sp_mem *mem,
                                    uint64_t span_id, uint32_t row);

typedef spanprof_status (*sp_span_member_fn)(void *data,
                                             const sp_span_member *member);

/* Hand out each pair, by ids. The first status that is not SPANPROF_OK ends it,
 * and is returned. */
spanprof_status sp_span_members_each(sp_span_members *members,
                                     const sp_mem *mem, sp_span_member_fn fn,
                                     void *data);

void sp_span_members_dispose(sp_span_members *members, const sp_mem *mem);

#endif
