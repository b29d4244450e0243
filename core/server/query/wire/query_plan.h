/* One query call under way, and what its request asks the store for. */
#ifndef SP_QUERY_PLAN_H
#define SP_QUERY_PLAN_H

#include "query_request.h"
#include "server/http/message/http.h"
#include "server/model/serve.h"
#include "server/query/selector/label_query.h"
#include "server/store/store.h"

#define SP_QUERY_MEMORY_MAX        ((size_t)256 << 20) /* of one call */
#define SP_QUERY_NODES_DEFAULT     8192
#define SP_QUERY_NODES_MAX         1048576
#define SP_QUERY_DOT_NODES_DEFAULT 100

typedef struct sp_query {
  sp_serve *serve;
  const sp_http_request *http;
  const sp_mem *mem; /* of all that does not outlive it */
  sp_http_response *response;
  sp_mem limited; /* counts the query's memory and limits it */
  size_t bytes;   /* allocated from `limited` */
  bool is_large;  /* may use more than SP_HTTP_SMALL_MAX */
  sp_arena arena; /* of the whole call */
  sp_query_fault fault;
} sp_query;

/* The query must not move in memory. If it needs more memory than it may use
 * now, its allocations fail and the response gets `needs_large`: then the rest
 * of the response does not matter. */
void sp_query_init(sp_query *query, sp_serve *serve,
                   const sp_http_request *http, sp_http_response *response);
void sp_query_dispose(sp_query *query);

/* Called after the answer is written; returns whether it is complete. A
 * cancelled loop may have left out a part. */
spanprof_status sp_query_end(sp_query *query);

/* SPANPROF_ERR_ARGUMENT with Connect's invalid_argument. */
spanprof_status sp_query_invalid(sp_query *query, const char *format, ...)
    SP_PRINTF(2, 3);

/* Put what went wrong into the query's fault, whatever `st` is, for who answers
 * in words of his own. */
void sp_query_explain(sp_query *query, spanprof_status st);

typedef struct sp_query_plan {
  sp_query *query;
  sp_matcher_list matchers;
  sp_selector selector;
  bool nothing; /* it asks for ids that nothing has */
} sp_query_plan;

/* Pair with sp_query_plan_dispose() also where it fails. Nothing is selected
 * yet: all types, all series, the whole range. */
void sp_query_plan_init(sp_query_plan *plan, sp_query *query);
void sp_query_plan_dispose(sp_query_plan *plan);

/* Each adds to the selection. All: SPANPROF_ERR_ARGUMENT with the fault set. */
spanprof_status sp_query_plan_type(sp_query_plan *plan, const char *type);
spanprof_status sp_query_plan_range(sp_query_plan *plan, int64_t start_ms,
                                    int64_t end_ms);
spanprof_status sp_query_plan_spans(sp_query_plan *plan, const sp_texts *ids);
spanprof_status sp_query_plan_traces(sp_query_plan *plan, const sp_texts *ids);
spanprof_status sp_query_plan_profiles(sp_query_plan *plan,
                                       const sp_texts *ids);

/* A label selector; messages begin "parsing label selector \"…\": ". */
spanprof_status sp_query_plan_labels(sp_query_plan *plan, const char *text);

/* The matchers of LabelNames and its like; messages begin "failed to parse
 * label selector \"…\": ". */
spanprof_status sp_query_plan_matchers(sp_query_plan *plan,
                                       const sp_texts *texts);

/* Type, range, selector and ids of a request. */
spanprof_status sp_query_plan_request(sp_query_plan *plan,
                                      const sp_query_request *request);

/* The selection as the store takes it. */
const sp_selector *sp_query_plan_selector(sp_query_plan *plan);

/* After a selection: `st`, or what its matchers have to say. */
spanprof_status sp_query_plan_done(sp_query_plan *plan, spanprof_status st);

/* Whether `type` has the five parts of a profile type. */
bool sp_profile_type_valid(const char *type);

#endif
