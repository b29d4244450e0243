/* Wide filters: each has the ids of many blocks, so that a span is found in the
 * whole store without reading the filter of every block.
 *
 * Blocks never change, and block numbers ascend and are never reused. A wide
 * filter covers all blocks in a range of numbers, and stays correct when some
 * of them are deleted. Blocks after the last range are in no wide filter. A
 * filter is made as soon as there are enough blocks that will not be compacted
 * again. It is stored in pieces; a lookup reads one. */
#ifndef SP_WIDE_FILTER_H
#define SP_WIDE_FILTER_H

#include "server/store/block/wanted_ids.h"
#include "server/store/store_inside.h"

/* Size in bytes of a row. It was chosen to fill a page when pages had 16 KiB.
 */
#define SP_WIDE_PIECE_BYTES (254 * 64)

/* A range of block numbers, both inclusive. None of its blocks has the wanted
 * ids. */
typedef struct sp_block_run {
  int64_t first;
  int64_t last;
} sp_block_run;

typedef struct sp_block_runs {
  sp_block_run *runs; /* sorted */
  size_t count;
  size_t capacity;
} sp_block_runs;

/* Find the ranges of blocks without the wanted ids, by the wide filters that
 * overlap a range of time. Dispose of *out also after a failure. Statuses as of
 * sp_database_step(), SPANPROF_ERR_NOMEM. */
spanprof_status sp_wide_filter_find(sp_block_runs *out, const sp_mem *mem,
                                    sqlite3 *db, const sp_wanted_ids *wanted,
                                    int64_t from_ns, int64_t until_ns);
bool sp_block_runs_have(const sp_block_runs *runs, int64_t block);
void sp_block_runs_dispose(sp_block_runs *runs, const sp_mem *mem);

/* Create wide filters where possible, and delete those without blocks. Runs on
 * the maintenance thread, or in a call of sp_store_compact().
 * wide_filter_make.c
 */
spanprof_status sp_wide_filter_update(sp_store *store);

#endif
