/* The labels of samples in the form in which profiles carry them. A label set
 * becomes a list, sorted by name, without labels that the series already has or
 * cannot have. Sets with the same list have the same list number, so their
 * samples are aggregated. */
#ifndef SP_LABEL_TABLE_H
#define SP_LABEL_TABLE_H

#include "name_table.h"
#include "settings/settings.h"

typedef struct sp_label_pair {
  uint32_t name; /* numbers in `names` */
  uint32_t value;
} sp_label_pair;

typedef struct sp_label_row {
  uint32_t at; /* index in `pairs` */
  uint32_t count;
} sp_label_row;

typedef struct sp_label_known {
  spanprof_labels set;
  uint32_t list;
} sp_label_known;

typedef struct sp_label_table {
  const sp_mem *mem;
  sp_name_table *names;
  const sp_settings *settings;
  size_t labels_max; /* maximum number of labels of a sample */
  sp_label_known *known;
  size_t known_count;
  size_t known_capacity;
  sp_index known_index;
  sp_label_row *lists;
  size_t list_count;
  size_t list_capacity;
  sp_index list_index;
  sp_label_pair *pairs;
  size_t pair_count;
  size_t pair_capacity;
  uint64_t capped; /* number of labels ever dropped because of `labels_max` */
} sp_label_table;

/* `names` and `settings` outlive the table. */
void sp_label_table_init(sp_label_table *table, const sp_mem *mem,
                         sp_name_table *names, const sp_settings *settings);
void sp_label_table_dispose(sp_label_table *table);

/* The number of the set's list. The empty set has the number 0 and costs
 * nothing.
 *
 * Dots in names become `_` (sp_clean_dots()), unless the settings keep them; a
 * label whose original name equals the result has priority. These labels are
 * dropped: labels with a name that the series has (the server would ignore
 * them); labels with an empty name or value (the server drops them); and the
 * innermost labels beyond the number of names that a series may have, which are
 * counted in labels_capped once per set. Returns SPANPROF_ERR_NOMEM if there is
 * no memory. */
spanprof_status sp_label_table_get(sp_label_table *table, spanprof_labels set,
                                   uint32_t *out);

/* The labels of a list; valid until the next sp_label_table_get(). */
const sp_label_pair *sp_label_table_pairs(const sp_label_table *table,
                                          uint32_t list, size_t *count);

size_t sp_label_table_bytes(const sp_label_table *table);

#endif
