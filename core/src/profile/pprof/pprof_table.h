/* The objects that a profile's samples refer to: locations and, through them,
 * functions and mappings. They are found by their ids. */
#ifndef SP_PPROF_TABLE_H
#define SP_PPROF_TABLE_H

#include "pprof_reader.h"
#include "pprof_source.h"

typedef struct sp_pprof_table {
  sp_pprof *profile; /* the profile's counts grow as its arrays are filled */
  sp_pprof_source *source;
  /* The arrays of `profile`, writable. */
  sp_pprof_location *locations;
  sp_pprof_function *functions;
  sp_pprof_mapping *mappings;
  sp_pprof_ids location_ids;
  sp_pprof_ids function_ids;
  sp_pprof_ids mapping_ids;
} sp_pprof_table;

/* Allocate the arrays, which never move. `counts` is the number of messages of
 * each field of Profile. The caller disposes of the table even if this
 * fails. */
spanprof_status sp_pprof_table_init(sp_pprof_table *table, sp_pprof *profile,
                                    sp_pprof_source *source,
                                    const size_t *counts);

/* Read the messages in an order such that each one follows the messages that it
 * refers to. */
spanprof_status sp_pprof_table_fill(sp_pprof_table *table);

void sp_pprof_table_dispose(sp_pprof_table *table, const sp_mem *mem);

#endif
