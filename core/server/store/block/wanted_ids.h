/* The spans and traces that a selector names by their ids. They form groups:
 * one group for the list of spans, one for the list of traces, and one for each
 * matcher `="id"`. A sample is selected only if each group contains one of its
 * ids, so a block without any id of a group is skipped. */
#ifndef SP_WANTED_IDS_H
#define SP_WANTED_IDS_H

#include "block.h"
#include "server/model/selector.h"

/* Where looking up one id needs a read of the file or a search, at most this
 * many ids are looked up. If there are more ids, the lookup is omitted and
 * nothing is excluded. */
#define SP_WANTED_FEW 16

typedef struct sp_wanted_id {
  uint64_t key; /* the id's key in filters (id_filter.h) */
  sp_trace_id trace;
  uint64_t span_id; /* 0: this is the id of a trace */
  uint32_t group;   /* ids of one group are adjacent */
} sp_wanted_id;

typedef struct sp_wanted_ids {
  sp_wanted_id *ids;
  size_t count;
  size_t list_count; /* number of ids from the lists of spans and traces, which
                      * precede those of matchers */
} sp_wanted_ids;

/* Returns whether the id may exist in the data that is being checked. */
typedef bool (*sp_wanted_has)(void *data, const sp_wanted_id *id);

/* Get the ids from a selector. The caller disposes of *wanted, also after a
 * failure. Returns SPANPROF_ERR_NOMEM on failure. */
spanprof_status sp_wanted_ids_read(sp_wanted_ids *wanted,
                                   const sp_selector *selector,
                                   const sp_mem *mem);
void sp_wanted_ids_dispose(sp_wanted_ids *wanted, const sp_mem *mem);

/* Returns whether `has` accepts an id of each group. The groups of matchers are
 * checked only if `matchers` is set. The caller sets it only if no selected
 * series has a label with the name of such a matcher, because in such a series
 * the matcher applies to the label. */
bool sp_wanted_ids_pass(const sp_wanted_ids *wanted, bool matchers,
                        sp_wanted_has has, void *data);

/* Like sp_wanted_ids_pass(), for the ids in a block's filter, or in its spans.
 */
bool sp_wanted_ids_pass_filter(const sp_wanted_ids *wanted, bool matchers,
                               const void *filter, size_t size);
bool sp_wanted_ids_pass_spans(const sp_wanted_ids *wanted, bool matchers,
                              const sp_block *block);

/* Return whether the name of the matcher stands for the span id, or for the
 * trace id, of a sample. In a series that has a label of this name, the matcher
 * applies to the label instead. */
bool sp_matcher_is_of_spans(const sp_matcher *matcher);
bool sp_matcher_is_of_traces(const sp_matcher *matcher);

#endif
