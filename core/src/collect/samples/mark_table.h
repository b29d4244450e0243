/* Finds the recordings that a sample belongs to by the sample's mark.
 * Recordings nest: a sample with the mark of an inner recording also belongs to
 * the recordings around it.
 *
 * A context may keep the mark of a recording that has ended. An ended recording
 * therefore stays in the table while a recording around it runs, but only the
 * latest SP_MARKS_ENDED_MAX ended recordings stay. All functions are called on
 * the collector thread. */
#ifndef SP_MARK_TABLE_H
#define SP_MARK_TABLE_H

#include "util/memory/mem.h"

#define SP_MARKS_ENDED_MAX 4096

struct sp_sink;

typedef struct sp_mark_entry {
  spanprof_mark mark;
  spanprof_mark outer;  /* mark of the recording around it, lower than `mark`;
                         * 0: none */
  struct sp_sink *sink; /* NULL: the recording has ended */
} sp_mark_entry;

typedef struct sp_mark_table {
  sp_mark_entry *entries; /* sorted by mark, ascending */
  size_t count;
  size_t capacity;
} sp_mark_table;

/* Add an entry. Returns SPANPROF_OK or SPANPROF_ERR_NOMEM. */
spanprof_status sp_mark_table_add(sp_mark_table *table, const sp_mem *mem,
                                  const sp_mark_entry *entry);

/* Store that the recording with this mark has ended. */
void sp_mark_table_end(sp_mark_table *table, spanprof_mark mark);

/* Return the entry of a mark, or NULL. */
const sp_mark_entry *sp_mark_table_find(const sp_mark_table *table,
                                        spanprof_mark mark);

void sp_mark_table_dispose(sp_mark_table *table, const sp_mem *mem);

#endif
