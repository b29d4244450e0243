/* Selects the series that match a selector, and reads their samples block by
 * block. */
#ifndef SP_SELECT_H
#define SP_SELECT_H

#include "server/store/tables/text_cache.h"
#include "wide_filter.h"

#define SP_SELECT_NO_COUNTS UINT32_MAX

/* A series of one type that matches the selector. */
typedef struct sp_select_entry {
  uint32_t series;
  uint32_t type;   /* index in the source's types */
  uint32_t counts; /* the type that counts samples, or SP_SELECT_NO_COUNTS */
  int64_t period;  /* of a sample, in the unit of the type; 0: not known */
  sp_text_pairs labels;
  bool by_span_ids; /* a matcher is about the ids of samples */
  bool seen;        /* it has a profile in the range */
} sp_select_entry;

typedef struct sp_select sp_select;

/* A source that has entries. */
typedef struct sp_select_source {
  uint32_t id;
  uint32_t whole;   /* if not 0, all its series are selected as one, and this
                     * number replaces the series in its entries */
  bool by_span_ids; /* a matcher of all its entries is about the ids of
                     * samples */
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

/* The receiver of the samples. Each function may be NULL. */
typedef struct sp_select_sink {
  void *data;
  /* These two apply if no condition of the selector is about ids. With
   * `presence`, only sp_select_entry.seen is needed. With `totals`, the samples
   * may be sums over all profiles of a block, with 0 as the index of the
   * profile. */
  bool presence;
  bool totals;
  sp_store_names names; /* with `presence`: as in sp_store_series() */
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
  uint64_t *span_ids; /* the selector's lists, sorted */
  sp_trace_id *trace_ids;
  sp_profile_uuid *profiles;
  sp_text_cache kept;       /* texts of the entries */
  sp_text_cache tried;      /* texts of series that may not match */
  sp_select_entry *entries; /* by series and type */
  size_t entry_count;
  size_t entry_capacity;
  sqlite3_stmt *parts[SP_SELECT_PARTS];
  sp_wanted_ids wanted;
  sp_block_runs without; /* blocks that have none of the ids in `wanted`, by the
                          * wide filters */
  /* Of the current block. */
  uint32_t source;
  uint32_t whole; /* of the source */
  sp_block block;
  sp_select_entry **first; /* of each of its series; NULL: none */
  size_t first_capacity;
  uint8_t *passes; /* of each of its spans: 0 unknown, 1 yes, 2 no */
  size_t passes_capacity;
  uint64_t profile_count; /* with selected values */
};

/* Returns the allocator for the results of a selector. */
static inline const sp_mem *sp_select_mem(const sp_store *store,
                                          const sp_selector *selector) {
  return selector->mem ? selector->mem : store->mem;
}

/* Find the series and read the blocks. Dispose of `select` also after a
 * failure. Statuses as of sp_store_stacks(). */
spanprof_status sp_select_run(sp_select *select, sp_store *store, sqlite3 *db,
                              const sp_selector *selector,
                              const sp_select_sink *sink);
void sp_select_dispose(sp_select *select);

/* Returns the id of a profile of the current block, computed from its stored
 * data. All series that the labels of its samples make from it have the same
 * id. */
sp_profile_uuid sp_select_uuid(const sp_select *select,
                               const sp_block_profile *profile);

/* Sort the selector's lists; select_match.c. SPANPROF_ERR_NOMEM. */
spanprof_status sp_select_sort_ids(sp_select *select);

/* Returns whether the ids of a profile, and of a sample, match the selector;
 * select_match.c. */
bool sp_select_profile_passes(const sp_select *select,
                              const sp_block_profile *profile);
bool sp_select_span_passes(const sp_select *select,
                           const sp_select_entry *entry,
                           const sp_block_span *span);

/* Returns the number of profiles with selected values in the current block,
 * whose totals must have been read; select_match.c. */
uint64_t sp_select_profiles(const sp_select *select);

bool sp_select_labels_pass(const sp_selector *selector,
                           const sp_text_pairs *labels, bool *by_span_ids);

/* Read the series of the sources that have blocks in the range;
 * select_series.c. */
spanprof_status sp_select_load(sp_select *select, int64_t from_ns,
                               int64_t until_ns,
                               const sp_select_source **sources,
                               size_t *source_count);

#endif
