#include "mark_table.h"

#include <string.h>

/* Return the index of `mark` among the first `count` entries, or the index at
 * which to insert it. */
static size_t mark_place(const sp_mark_table *table, size_t count,
                         spanprof_mark mark) {
  size_t low = 0, high = count;

  while (low < high) {
    size_t middle = low + (high - low) / 2;

    if (table->entries[middle].mark < mark)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static sp_mark_entry *mark_among(const sp_mark_table *table, size_t count,
                                 spanprof_mark mark) {
  size_t at = mark_place(table, count, mark);

  return at < count && table->entries[at].mark == mark ? &table->entries[at]
                                                       : NULL;
}

spanprof_status sp_mark_table_add(sp_mark_table *table, const sp_mem *mem,
                                  const sp_mark_entry *entry) {
  size_t at = mark_place(table, table->count, entry->mark);
  spanprof_status st =
      sp_mem_reserve(mem, (void **)&table->entries, &table->capacity,
                     table->count + 1, sizeof *table->entries);

  if (st)
    return st;
  memmove(&table->entries[at + 1], &table->entries[at],
          (table->count - at) * sizeof *table->entries);
  table->entries[at] = *entry;
  table->count++;
  return SPANPROF_OK;
}

void sp_mark_table_end(sp_mark_table *table, spanprof_mark mark) {
  sp_mark_entry *ended = mark_among(table, table->count, mark);
  size_t kept = 0, surplus = 0, i;

  if (!ended)
    return;
  ended->sink = NULL;
  for (i = 0; i < table->count; i++)
    surplus += !table->entries[i].sink;
  surplus = surplus > SP_MARKS_ENDED_MAX ? surplus - SP_MARKS_ENDED_MAX : 0;
  /* The mark of an outer recording is lower than that of the inner recording,
   * so the loop has processed the outer entry before. */
  for (i = 0; i < table->count; i++) {
    const sp_mark_entry entry = table->entries[i];

    if (!entry.sink && surplus > 0)
      surplus--;
    else if (entry.sink || mark_among(table, kept, entry.outer))
      table->entries[kept++] = entry;
  }
  table->count = kept;
}

const sp_mark_entry *sp_mark_table_find(const sp_mark_table *table,
                                        spanprof_mark mark) {
  return mark ? mark_among(table, table->count, mark) : NULL;
}

void sp_mark_table_dispose(sp_mark_table *table, const sp_mem *mem) {
  sp_mem_free(mem, table->entries);
  *table = (sp_mark_table){0};
}
