/* Finds the series that match a selector, and reads their samples block by
 * block. An entry is one series with one of its types. */
#ifndef SP_SELECT_H
#define SP_SELECT_H

#include "server/store/tables/text_cache.h"
#include "wide_filter.h"

#define SP_SELECT_NO_COUNTS UINT32_MAX

/* A series and one of its types, if they match the selector. */
typedef struct sp_select_entry {
  uint32_t series;
  uint32_t type;   /* index in the source's types */
  uint32_t counts; /* the type that counts samples, or SP_SELECT_NO_COUNTS */
  int64_t period;  /* value of one sample, in the unit of the type; 0: not
                    * known */
  sp_text_pairs labels;
  bool by_span_ids; /* a matcher of the selector applies to the span or trace
                     * ids of the samples */
  bool seen;        /* the entry has a profile in the range */
} sp_select_entry;

typedef struct sp_select sp_select;

/* A source that has entries. */
typedef struct sp_select_source {
  uint32_t id;
  uint32_t whole;   /* if not 0, all its series are selected as one, and this
                     * number replaces the series in its entries */
  bool by_span_ids; /* `by_span_ids` of all its entries */
} sp_select_source;

/* Columns of a block that are read separately. */
typedef enum sp_select_part {
  SP_SELECT_HEAD,
  SP_SELECT_FILTER,
  SP_SELECT_TOTALS,
  SP_SELECT_SPANS,
  SP_SELECT_BODY,
  SP_SELECT_PARTS,
} sp_select_part;

/* The receiver of the samples. Each of its functions may be NULL. */
typedef struct sp_select_sink {
  void *data;
  /* `presence`: only sp_select_entry.seen is needed. `totals`: the samples may
   * be sums over all profiles of a block, with 0 as the index of the profile.
   * Both are ignored if a condition of the selector is about span or trace ids.
   */
  bool presence;
  bool totals;
  sp_store_names names; /* if `presence` is set: the labels that the caller of
                         * sp_store_series() uses */
  spanprof_status (*sample)(void *data, sp_select_entry *entry,
                            const sp_block *block,
                            const sp_block_sample *sample);
  /* Called after the last sample of each profile and series. */
  spanprof_status (*run_end)(void *data, const sp_block *block,
                             const sp_block_sample *first);
} sp_select_sink;

struct sp_select {
  sp_store *store;
  const sp_mem *mem;
  sqlite3 *db;
  const sp_selector *selector;
  const sp_select_sink *sink;
  uint64_t *span_ids; /* sorted copies of the selector's lists */
  sp_trace_id *trace_ids;
  sp_profile_uuid *profiles;
  sp_text_cache kept;       /* texts of the entries */
  sp_text_cache tried;      /* texts of series while it is not known whether
                             * they match */
  sp_select_entry *entries; /* sorted by series and type */
  size_t entry_count;
  size_t entry_capacity;
  sqlite3_stmt *parts[SP_SELECT_PARTS];
  sp_wanted_ids wanted;
  sp_block_runs without; /* blocks that the wide filters exclude, because they
                          * do not have the ids in `wanted` */
  /* State of the current block and its source. */
  uint32_t source;
  uint32_t whole; /* sp_select_source.whole of the source */
  sp_block block;
  sp_select_entry **first; /* first entry of each series of the block; NULL:
                            * none */
  size_t first_capacity;
  uint8_t *passes; /* whether each span of the block matches: 0 not known yet, 1
                    * yes, 2 no */
  size_t passes_capacity;
  uint64_t profile_count; /* number of profiles with selected values, of all
                           * blocks so far */
};

/* Returns the allocator for the results of a selector. */
static inline const sp_mem *sp_select_mem(const sp_store *store,
                                          const sp_selector *selector) {
  return selector->mem ? selector->mem : store->mem;
}

/* Find the series, and read their blocks. The caller disposes of `select`, also
 * after a failure. Returns the statuses of sp_store_stacks(). */
spanprof_status sp_select_run(sp_select *select, sp_store *store, sqlite3 *db,
                              const sp_selector *selector,
                              const sp_select_sink *sink);
void sp_select_dispose(sp_select *select);

/* Returns the id of a profile of the current block, computed from its stored
 * data. The id is the same for all series of the profile. */
sp_profile_uuid sp_select_uuid(const sp_select *select,
                               const sp_block_profile *profile);

/* Make sorted copies of the selector's lists of ids. Returns SPANPROF_ERR_NOMEM
 * on failure. Defined in select_match.c. */
spanprof_status sp_select_sort_ids(sp_select *select);

/* Return whether the id of a profile, or the ids of a sample, match the
 * selector. Defined in select_match.c. */
bool sp_select_profile_passes(const sp_select *select,
                              const sp_block_profile *profile);
bool sp_select_span_passes(const sp_select *select,
                           const sp_select_entry *entry,
                           const sp_block_span *span);

/* Returns the number of profiles with selected values in the current block. The
 * block's totals must have been read. Defined in select_match.c. */
uint64_t sp_select_profiles(const sp_select *select);

bool sp_select_labels_pass(const sp_selector *selector,
                           const sp_text_pairs *labels, bool *by_span_ids);

/* Find the entries of all sources that have blocks in the range. Defined in
 * select_series.c. */
spanprof_status sp_select_load(sp_select *select, int64_t from_ns,
                               int64_t until_ns,
                               const sp_select_source **sources,
                               size_t *source_count);

#endif
