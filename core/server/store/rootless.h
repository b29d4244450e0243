/* The table `rootless`: traces with stored spans, but without a stored root
 * span. The server has not received the root, or has deleted it because it is
 * older than the other spans. The table contains the earliest span of each such
 * trace, and lists show this span instead of the root. */
#ifndef SP_ROOTLESS_H
#define SP_ROOTLESS_H

#include "server/store/tables/database.h"
#include "store.h"

typedef struct sp_rootless {
  sqlite3 *db;
  sqlite3_stmt *root, *known, *earliest, *put, *drop;
} sp_rootless;

/* Update the table after spans of a trace were stored. `first` is the earliest
 * of these spans. */
spanprof_status sp_rootless_add(sp_rootless *rootless,
                                const sp_store_span *first);

/* Update the table after spans of a trace were deleted or replaced. */
spanprof_status sp_rootless_update(sp_rootless *rootless, sp_trace_id trace);

void sp_rootless_dispose(sp_rootless *rootless);

#endif
