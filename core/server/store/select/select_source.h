/* The properties that all profiles of one source have in common, and the labels
 * of its series, as texts. */
#ifndef SP_SELECT_SOURCE_H
#define SP_SELECT_SOURCE_H

#include "select.h"
#include "server/store/block/columns.h"

typedef struct sp_series_source {
  uint32_t id;
  size_t type_count;
  const char *types[SP_BLOCK_TYPES_MAX + 1][2]; /* the last is the period's */
  const char *type_ids[SP_BLOCK_TYPES_MAX];     /* "name:type:unit:…" */
  sp_text_pair *labels;
  size_t label_count;
  uint32_t counts; /* as in sp_select_entry */
  int64_t period;
  bool needs_series; /* matchers depend on labels of its series */
} sp_series_source;

/* Replace an out-of-memory status by the error for too many series. Other
 * statuses are returned unchanged. */
spanprof_status sp_series_no_memory(spanprof_status st);

/* Read the labels of a series, or of a source. `only`: only labels that this
 * selector uses; NULL: all. */
spanprof_status sp_series_read_labels(sp_text_cache *in,
                                      sp_column_reader *reader,
                                      const sp_selector *only,
                                      sp_text_pair **out, size_t *count);

/* Read a row of the source table. SPANPROF_ERR_FORMAT, LIMIT, NOMEM. */
spanprof_status sp_series_source_read(sp_text_cache *in,
                                      sp_series_source *source,
                                      const void *bytes, size_t size);

/* All labels of a series and type. Labels of the upload replace labels of
 * samples with the same name. */
spanprof_status sp_series_labels(sp_arena *arena,
                                 const sp_series_source *source, size_t type,
                                 const sp_text_pair *own, size_t own_count,
                                 sp_text_pairs *out);

#endif
