/* Which series a selector takes, and their samples, block by block. */
#ifndef SP_SELECT_H
#define SP_SELECT_H

#include "server/store/tables/text_cache.h"
#include "wide_filter.h"

#define SP_SELECT_NO_COUNTS UINT32_MAX

/* A series of one type that the selector takes. */
typedef struct sp_select_entry {
  uint32_t series;
  uint32_t type;   /* index in the source's types */
  uint32_t counts; /* the type that counts samples; SP_SELECT_NO_COUNTS */
  int64_t period;  /* of a sample, in the type's unit; 0: not known */
  sp_text_pairs labels;
  bool asks_spans; /* a matcher is about the samples' ids */
  bool seen;       /* it has a profile in the range */
} sp_select_entry;

typedef struct sp_select sp_select;

/* A source of which there are entries. */
typedef struct sp_select_source {
  uint32_t id;
  uint32_t whole;  /* all its series are selected as one, and this number stands
                    * for a series in its entries; 0: one by one */
  bool asks_spans; /* a matcher of all its entries is for the samples' ids */
} sp_select_source;

/* Columns of a block that are read by themselves. */
typedef enum sp_select_part {
  SP_SELECT_HEAD,
  SP_SELECT_FILTER,
  SP_SELECT_TOTALS,
  SP_SELECT_SPANS,
  SP_SELECT_BODY,
  SP_SELECT_PARTS,
} sp_select_part;

/* What is done with the samples; each may be NULL. */
typedef struct sp_select_sink {
  void *data;
  /* Where no id is asked for: that an entry has values in the range is enough,
   * or totals of many profiles are (profile 0 of the block then). */
  bool presence;
  bool totals;
  sp_store_names names; /* with `presence`: as in sp_store_series() */
  spanprof_status (*sample)(void *data, sp_select_entry *entry,
                            const sp_block *block,
                            const sp_block_sample *sample);
  /* Behind the last sample of a profile and series. */
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
  sp_text_cache kept;       /* of the entries */
  sp_text_cache tried;      /* of what may be none */
  sp_select_entry *entries; /* by series and type */
  size_t entry_count;
  size_t entry_room;
  sqlite3_stmt *parts[SP_SELECT_PARTS];
  sp_wanted_ids wanted;
  sp_block_runs without; /* any of `wanted`, those of matchers included */
  /* Of the block at hand. */
  uint32_t source;
  uint32_t whole; /* the source's */
  sp_block block;
  sp_select_entry **first; /* of each of its series; NULL: none */
  size_t first_room;
  uint8_t *passes; /* of each of its spans: 0 not asked, 1 yes, 2 no */
  size_t passes_room;
  uint64_t profile_count; /* that had a part */
};

/* The memory of what a selector selects. */
static inline const sp_mem *sp_select_mem(const sp_store *store,
                                          const sp_selector *selector) {
  return selector->mem ? selector->mem : store->mem;
}

/* Find the series, walk the blocks. Dispose of it also after a failure.
 * Statuses as of sp_store_stacks(). */
spanprof_status sp_select_run(sp_select *select, sp_store *store, sqlite3 *db,
                              const sp_selector *selector,
                              const sp_select_sink *sink);
void sp_select_dispose(sp_select *select);

/* The id of a profile of the block at hand, made of what is kept of it. All
 * series that its samples' labels made of it have the same. */
sp_profile_uuid sp_select_uuid(const sp_select *select,
                               const sp_block_profile *profile);

/* Sort the selector's lists; select_match.c. SPANPROF_ERR_NOMEM. */
spanprof_status sp_select_sort_ids(sp_select *select);

/* Whether the ids of a profile, and of a sample, pass the selector;
 * select_match.c. */
bool sp_select_profile_passes(const sp_select *select,
                              const sp_block_profile *profile);
bool sp_select_span_passes(const sp_select *select,
                           const sp_select_entry *entry,
                           const sp_block_span *span);

/* The number of profiles of the present block, whose totals have been read,
 * that have selected values; select_match.c. */
uint64_t sp_select_profiles(const sp_select *select);

bool sp_select_labels_pass(const sp_selector *selector,
                           const sp_text_pairs *labels, bool *asks_spans);

/* Read the series of the sources that have blocks in the range;
 * select_series.c. */
spanprof_status sp_select_load(sp_select *select, int64_t from_ns,
                               int64_t until_ns,
                               const sp_select_source **sources,
                               size_t *source_count);

#endif
