/* A set of pairs of a span and its row in a table. The set is compressed to
 * about 7 bytes per pair, because a week may have ten million pairs. */
#ifndef SP_SPAN_MEMBERS_H
#define SP_SPAN_MEMBERS_H

#include "util/memory/mem.h"

typedef struct sp_span_member {
  uint64_t span_id;
  uint32_t row;
} sp_span_member;

/* Empty if all members are zero. */
typedef struct sp_span_members {
  struct sp_span_members_part *parts; /* NULL: empty */
  struct sp_span_members_chunk *spare;
  size_t count; /* pairs in the chunks, without the pending ones */
} sp_span_members;

/* Add a pair, unless it is in the set. Can return SPANPROF_ERR_NOMEM, and
 * SPANPROF_ERR_LIMIT if there would be more than 2^24 pairs. */
spanprof_status sp_span_members_add(sp_span_members *members, const sp_mem *mem,
                                    uint64_t span_id, uint32_t row);

typedef spanprof_status (*sp_span_member_fn)(void *data,
                                             const sp_span_member *member);

/* Call `fn` for each pair, ordered by span id. Stops at the first status that
 * is not SPANPROF_OK and returns it. */
spanprof_status sp_span_members_each(sp_span_members *members,
                                     const sp_mem *mem, sp_span_member_fn fn,
                                     void *data);

void sp_span_members_dispose(sp_span_members *members, const sp_mem *mem);

#endif
