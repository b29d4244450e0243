/* What a spool holds, and the look for what dead processes left; spool.h has
 * the protocol. */
#ifndef SP_SPOOL_SCAN_H
#define SP_SPOOL_SCAN_H

#include "spool.h"

/* Our own home and those of the dead; more wait for the next look. */
#define SP_SPOOL_HOMES 16

struct sp_spool {
  const sp_mem *mem;
  const sp_clock *clock;
  sp_spool_lost_fn lost;
  void *lost_data;
  char *directory;
  uint64_t max_bytes;
  uint64_t max_age_ns;
  sp_spool_home homes[SP_SPOOL_HOMES]; /* [0]: ours, made with the first put */
  sp_spool_entry *entries;             /* oldest first */
  size_t count;
  size_t capacity;
  uint64_t bytes;         /* of the entries */
  uint64_t foreign_bytes; /* of others, at the last look: those of the living,
                           * and of the dead that find no place in homes */
  uint64_t scan_ns;       /* when to look again */
  bool more;              /* the last look found more homes than fit */
};

/* What a file of this size takes of the disk. */
uint64_t sp_spool_disk_bytes(uint64_t size);

/* Make room for `more` entries. SPANPROF_ERR_NOMEM. */
spanprof_status sp_spool_reserve(sp_spool *spool, size_t more);

/* Put an entry in its place by time; room was reserved. */
void sp_spool_insert(sp_spool *spool, const sp_spool_entry *entry);

/* Take over the homes of dead processes, and count what lies in those of the
 * living. Statuses as of sp_spool_claim(). */
spanprof_status sp_spool_scan(sp_spool *spool);

#endif
