/* The spans and traces that a selector names by their ids. They form groups:
 * the list of spans, the list of traces, and each matcher `="id"`. A sample
 * must have an id of each group, so a block without any id of a group is
 * skipped. */
#ifndef SP_WANTED_IDS_H
#define SP_WANTED_IDS_H

#include "block.h"
#include "server/model/selector.h"

/* Largest number of ids that are looked up one by one in places where each
 * lookup needs a read or a search. With more ids, the lookup is omitted. */
#define SP_WANTED_FEW 16

typedef struct sp_wanted_id {
  uint64_t key; /* in filters; id_filter.h */
  sp_trace_id trace;
  uint64_t span_id; /* 0: a trace */
  uint32_t group;   /* ids of one group are adjacent */
} sp_wanted_id;

typedef struct sp_wanted_ids {
  sp_wanted_id *ids;
  size_t count;
  size_t list_count; /* ids from the lists of spans and traces; they precede
                      * those of matchers */
} sp_wanted_ids;

/* Returns whether an id exists, or may exist, in some place. */
typedef bool (*sp_wanted_has)(void *data, const sp_wanted_id *id);

/* Read the ids of a selector. Dispose of the result also after a failure.
 * SPANPROF_ERR_NOMEM. */
spanprof_status sp_wanted_ids_read(sp_wanted_ids *wanted,
                                   const sp_selector *selector,
                                   const sp_mem *mem);
void sp_wanted_ids_dispose(sp_wanted_ids *wanted, const sp_mem *mem);

/* Returns whether `has` accepts an id of each group. With `matchers`, the
 * groups of matchers are checked, too. Use this only if no selected series has
 * a label with the matcher's name, because the matcher would apply to the
 * label. */
bool sp_wanted_ids_pass(const sp_wanted_ids *wanted, bool matchers,
                        sp_wanted_has has, void *data);

/* As sp_wanted_ids_pass(), for a block's filter, and for its spans. */
bool sp_wanted_ids_pass_filter(const sp_wanted_ids *wanted, bool matchers,
                               const void *filter, size_t size);
bool sp_wanted_ids_pass_spans(const sp_wanted_ids *wanted, bool matchers,
                              const sp_block *block);

/* Returns whether the matcher is about span or trace ids, unless the series has
 * the label. */
bool sp_matcher_is_of_spans(const sp_matcher *matcher);
bool sp_matcher_is_of_traces(const sp_matcher *matcher);

#endif
