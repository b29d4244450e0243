/* A query call while it runs, and the selection that the call reads from the
 * store. */
#ifndef SP_QUERY_PLAN_H
#define SP_QUERY_PLAN_H

#include "query_request.h"
#include "server/http/message/http.h"
#include "server/model/serve.h"
#include "server/query/selector/label_query.h"
#include "server/store/store.h"

#define SP_QUERY_MEMORY_MAX        ((size_t)256 << 20) /* memory limit of a call */
#define SP_QUERY_NODES_DEFAULT     8192
#define SP_QUERY_NODES_MAX         1048576
#define SP_QUERY_DOT_NODES_DEFAULT 100

typedef struct sp_query {
  sp_serve *serve;
  const sp_http_request *http;
  const sp_mem *mem; /* allocates everything that is freed at the end of the
                      * query */
  sp_http_response *response;
  /* The allocator behind `mem`, which counts and limits the query's memory. */
  sp_mem limited;
  size_t bytes;   /* allocated from `limited` */
  bool is_large;  /* the query may use more than SP_HTTP_SMALL_MAX */
  sp_arena arena; /* freed at the end of the call */
  sp_query_fault fault;
} sp_query;

/* Begin a query, which must not move in memory. If the query needs more memory
 * than it may use, its allocations fail and `needs_large` of the response is
 * set. The server then ignores the rest of the response and runs the call
 * again. */
void sp_query_init(sp_query *query, sp_serve *serve,
                   const sp_http_request *http, sp_http_response *response);
void sp_query_dispose(sp_query *query);

/* Call this after the response is written. Returns an error if the response is
 * incomplete: a cancelled loop may have left out a part. */
spanprof_status sp_query_end(sp_query *query);

/* Set the query's fault, with Connect's code invalid_argument and this message.
 * Returns SPANPROF_ERR_ARGUMENT. */
spanprof_status sp_query_invalid(sp_query *query, const char *format, ...)
    SP_PRINTF(2, 3);

/* Set the query's fault from a status, for callers that write their own error
 * responses. */
void sp_query_explain(sp_query *query, spanprof_status st);

typedef struct sp_query_plan {
  sp_query *query;
  sp_matcher_list matchers;
  sp_selector selector;
  /* A condition requires an id that no data can have, so the result is
   * empty. */
  bool nothing;
} sp_query_plan;

/* Make a plan without conditions: it selects all types and series at all
 * times. */
void sp_query_plan_init(sp_query_plan *plan, sp_query *query);
void sp_query_plan_dispose(sp_query_plan *plan);

/* Add a condition: a profile type, a time range, or ids of spans, traces or
 * profiles. Returns SPANPROF_ERR_ARGUMENT and sets the query's fault if the
 * condition is invalid. */
spanprof_status sp_query_plan_type(sp_query_plan *plan, const char *type);
spanprof_status sp_query_plan_range(sp_query_plan *plan, int64_t start_ms,
                                    int64_t end_ms);
spanprof_status sp_query_plan_spans(sp_query_plan *plan, const sp_texts *ids);
spanprof_status sp_query_plan_traces(sp_query_plan *plan, const sp_texts *ids);
spanprof_status sp_query_plan_profiles(sp_query_plan *plan,
                                       const sp_texts *ids);

/* Add a label selector. Error messages begin with "parsing label selector
 * \"…\": ". */
spanprof_status sp_query_plan_labels(sp_query_plan *plan, const char *text);

/* Add the matchers of LabelNames and similar calls. Error messages begin with
 * "failed to parse label selector \"…\": ". */
spanprof_status sp_query_plan_matchers(sp_query_plan *plan,
                                       const sp_texts *texts);

/* Add the type, range, selector and ids of a request. */
spanprof_status sp_query_plan_request(sp_query_plan *plan,
                                      const sp_query_request *request);

/* Returns the selection for the store. */
const sp_selector *sp_query_plan_selector(sp_query_plan *plan);

/* Call this after the store has read the selection and returned `st`. Returns
 * `st`, or SPANPROF_ERR_ARGUMENT if a regular expression took too long. */
spanprof_status sp_query_plan_done(sp_query_plan *plan, spanprof_status st);

/* Returns whether `type` has the five parts of a profile type. */
bool sp_profile_type_valid(const char *type);

#endif
