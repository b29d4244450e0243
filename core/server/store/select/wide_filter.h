/* Wide filters: Bloom filters with the span and trace ids of many blocks, so
 * that a span is found in the whole store without reading the filter of every
 * block.
 *
 * Blocks never change, and block numbers ascend and are never reused. A wide
 * filter covers all blocks in a range of numbers, and stays correct when some
 * of these blocks are deleted. Blocks after the last range are in no wide
 * filter. A wide filter is made as soon as there are enough blocks that will
 * not be compacted again. It is stored in pieces, each in a row; a lookup of an
 * id reads one piece. */
#ifndef SP_WIDE_FILTER_H
#define SP_WIDE_FILTER_H

#include "server/store/block/wanted_ids.h"
#include "server/store/store_inside.h"

/* Size in bytes of a piece: 254 lines of a filter. Files of earlier versions
 * had pages of 16 KiB, which such a row filled. */
#define SP_WIDE_PIECE_BYTES (254 * 64)

/* A range of block numbers, including `first` and `last`. A block in the range
 * has no id of at least one group of the wanted ids (wanted_ids.h), so none of
 * its samples is selected. */
typedef struct sp_block_run {
  int64_t first;
  int64_t last;
} sp_block_run;

typedef struct sp_block_runs {
  sp_block_run *runs; /* sorted */
  size_t count;
  size_t capacity;
} sp_block_runs;

/* Find the ranges of blocks without the wanted ids, from the wide filters that
 * overlap a range of time. The caller disposes of *out, also after a failure.
 * Returns the status of sp_database_step() or SPANPROF_ERR_NOMEM. */
spanprof_status sp_wide_filter_find(sp_block_runs *out, const sp_mem *mem,
                                    sqlite3 *db, const sp_wanted_ids *wanted,
                                    int64_t from_ns, int64_t until_ns);
bool sp_block_runs_have(const sp_block_runs *runs, int64_t block);
void sp_block_runs_dispose(sp_block_runs *runs, const sp_mem *mem);

/* Create wide filters where possible, and delete those whose range has no
 * blocks left. Called on the maintenance thread, or by sp_store_compact().
 * Defined in wide_filter_make.c. */
spanprof_status sp_wide_filter_update(sp_store *store);

#endif
