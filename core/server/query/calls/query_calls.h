/* The query calls. Each call reads a request and writes a reply. Returns
 * SPANPROF_ERR_ARGUMENT and sets the query's fault if the request is invalid.
 * Other errors come from the store, which puts the message into
 * spanprof_last_error(). The reply of a failed call is discarded. */
#ifndef SP_QUERY_CALLS_H
#define SP_QUERY_CALLS_H

#include "server/query/wire/query_plan.h"
#include "server/query/wire/reply_writer.h"

typedef spanprof_status (*sp_query_call)(sp_query *query,
                                         const sp_query_request *request,
                                         sp_reply *reply);

/* The calls of querier.v1.QuerierService. They are defined in label_calls.c,
 * stack_calls.c, series_calls.c and heatmap_calls.c. */
spanprof_status sp_call_profile_types(sp_query *query,
                                      const sp_query_request *request,
                                      sp_reply *reply);
spanprof_status sp_call_label_names(sp_query *query,
                                    const sp_query_request *request,
                                    sp_reply *reply);
spanprof_status sp_call_label_values(sp_query *query,
                                     const sp_query_request *request,
                                     sp_reply *reply);
spanprof_status sp_call_series(sp_query *query, const sp_query_request *request,
                               sp_reply *reply);
spanprof_status sp_call_stacktraces(sp_query *query,
                                    const sp_query_request *request,
                                    sp_reply *reply);
spanprof_status sp_call_span_profile(sp_query *query,
                                     const sp_query_request *request,
                                     sp_reply *reply);
spanprof_status sp_call_profile(sp_query *query,
                                const sp_query_request *request,
                                sp_reply *reply);
spanprof_status sp_call_diff(sp_query *query, const sp_query_request *request,
                             sp_reply *reply);
spanprof_status sp_call_select_series(sp_query *query,
                                      const sp_query_request *request,
                                      sp_reply *reply);
spanprof_status sp_call_heatmap(sp_query *query,
                                const sp_query_request *request,
                                sp_reply *reply);

/* state_calls.c */
spanprof_status sp_call_profile_stats(sp_query *query,
                                      const sp_query_request *request,
                                      sp_reply *reply);
spanprof_status sp_call_version(sp_query *query,
                                const sp_query_request *request,
                                sp_reply *reply);
spanprof_status sp_call_feature_flags(sp_query *query,
                                      const sp_query_request *request,
                                      sp_reply *reply);
spanprof_status sp_call_settings_get(sp_query *query,
                                     const sp_query_request *request,
                                     sp_reply *reply);
spanprof_status sp_call_settings_set(sp_query *query,
                                     const sp_query_request *request,
                                     sp_reply *reply);
spanprof_status sp_call_settings_delete(sp_query *query,
                                        const sp_query_request *request,
                                        sp_reply *reply);
spanprof_status sp_call_no_debuginfo(sp_query *query,
                                     const sp_query_request *request,
                                     sp_reply *reply);
spanprof_status sp_call_no_github(sp_query *query,
                                  const sp_query_request *request,
                                  sp_reply *reply);

#endif
