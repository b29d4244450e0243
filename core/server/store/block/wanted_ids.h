/* The spans and traces that a selector asks for by their ids. They are in
 * groups: its list of spans, its list of traces, and each matcher `="id"`. A
 * sample has to have one id of each group, so what has none of a group can be
 * passed over unread. */
#ifndef SP_WANTED_IDS_H
#define SP_WANTED_IDS_H

#include "block.h"
#include "server/model/selector.h"

/* So many are looked for one by one where each takes a read or a search. */
#define SP_WANTED_FEW 16

typedef struct sp_wanted_id {
  uint64_t key; /* of filters; id_filter.h */
  sp_trace_id trace;
  uint64_t span_id; /* 0: a trace */
  uint32_t group;   /* those of one follow each other */
} sp_wanted_id;

typedef struct sp_wanted_ids {
  sp_wanted_id *ids;
  size_t count;
  size_t list_count; /* the first ones, those of lists */
} sp_wanted_ids;

/* Whether an id is somewhere, or may be. */
typedef bool (*sp_wanted_has)(void *data, const sp_wanted_id *id);

/* Dispose of it also after a failure. SPANPROF_ERR_NOMEM. */
spanprof_status sp_wanted_ids_read(sp_wanted_ids *wanted,
                                   const sp_selector *selector,
                                   const sp_mem *mem);
void sp_wanted_ids_dispose(sp_wanted_ids *wanted, const sp_mem *mem);

/* Whether there may be one of each group. `matchers`: also of the matchers',
 * which are about labels where a series has some of that name. */
bool sp_wanted_ids_pass(const sp_wanted_ids *wanted, bool matchers,
                        sp_wanted_has has, void *data);

/* The same of a block's filter, and of its spans that were read. */
bool sp_wanted_ids_pass_filter(const sp_wanted_ids *wanted, bool matchers,
                               const void *filter, size_t size);
bool sp_wanted_ids_pass_spans(const sp_wanted_ids *wanted, bool matchers,
                              const sp_block *block);

/* What a matcher of a selector is about, unless the series has the label. */
bool sp_matcher_is_of_spans(const sp_matcher *matcher);
bool sp_matcher_is_of_traces(const sp_matcher *matcher);

#endif
