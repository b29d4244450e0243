/* The calls of adhocprofiles.v1.AdHocProfileService, which show files that
 * users upload. */
#ifndef SP_ADHOC_CALLS_H
#define SP_ADHOC_CALLS_H

#include "query_calls.h"

spanprof_status sp_call_adhoc_upload(sp_query *query,
                                     const sp_query_request *request,
                                     sp_reply *reply);
spanprof_status sp_call_adhoc_get(sp_query *query,
                                  const sp_query_request *request,
                                  sp_reply *reply);
spanprof_status sp_call_adhoc_list(sp_query *query,
                                   const sp_query_request *request,
                                   sp_reply *reply);
spanprof_status sp_call_adhoc_diff(sp_query *query,
                                   const sp_query_request *request,
                                   sp_reply *reply);

#endif
