/* Reads a source (the types, labels and period that all its profiles have in
 * common) and the labels of its series from their rows, as texts. */
#ifndef SP_SELECT_SOURCE_H
#define SP_SELECT_SOURCE_H

#include "select.h"
#include "server/store/block/columns.h"

typedef struct sp_series_source {
  uint32_t id;
  size_t type_count;
  const char *types[SP_BLOCK_TYPES_MAX + 1][2]; /* type and unit; the last
                                                 * element is that of the
                                                 * period */
  const char *type_ids[SP_BLOCK_TYPES_MAX];     /* "name:type:unit:…" */
  sp_text_pair *labels;
  size_t label_count;
  uint32_t counts; /* the type that counts samples, or SP_SELECT_NO_COUNTS */
  int64_t period;
  bool needs_series; /* a matcher depends on the labels of the source's
                      * series */
} sp_series_source;

/* If the status is SPANPROF_ERR_LIMIT (the memory limit of the labels), set the
 * error text for too many series. Other statuses are returned unchanged. */
spanprof_status sp_series_no_memory(spanprof_status st);

/* Read the labels of a series or of a source. If `only` is not NULL, only the
 * labels that this selector uses are read. */
spanprof_status sp_series_read_labels(sp_text_cache *in,
                                      sp_column_reader *reader,
                                      const sp_selector *only,
                                      sp_text_pair **out, size_t *count);

/* Decode a row of the table `source`. Returns SPANPROF_ERR_FORMAT if the row is
 * damaged, SPANPROF_ERR_LIMIT or SPANPROF_ERR_NOMEM. */
spanprof_status sp_series_source_read(sp_text_cache *in,
                                      sp_series_source *source,
                                      const void *bytes, size_t size);

/* Get all labels of a series and type. Labels of the source replace labels of
 * the series (`own`) that have the same name. */
spanprof_status sp_series_labels(sp_arena *arena,
                                 const sp_series_source *source, size_t type,
                                 const sp_text_pair *own, size_t own_count,
                                 sp_text_pairs *out);

#endif
