/* push.v1.PushRequest: profiles by series, in protobuf or JSON. */
#ifndef SP_PUSH_REQUEST_H
#define SP_PUSH_REQUEST_H

#include "server/receive/profile/series_labels.h"
#include "server/receive/wire/refusal.h"

/* Of one request, and of one series, empty ones included: clients send a few,
 * and all labels are looked at again for each profile. */
#define SP_PUSH_PROFILES_MAX ((size_t)10000)
#define SP_PUSH_LABELS_MAX   SP_LIMITS_LABELS_MAX

/* Receives one profile, still compressed, with its id and the labels of its
 * series. It may change `labels`; texts are the request's. */
typedef spanprof_status (*sp_push_visit)(void *data, sp_series_labels *labels,
                                         sp_view profile, sp_view id);

/* Rewrite a request in JSON as the same in protobuf. */
spanprof_status sp_push_request_json(sp_view json, sp_buffer *out,
                                     sp_refusal *refusal);

/* Read the whole request, and then visit each profile of it, until a visit
 * fails. `mem` is for labels. Refuses what is no request before any visit. */
spanprof_status sp_push_request_each(sp_view message, const sp_mem *mem,
                                     sp_push_visit visit, void *data,
                                     sp_refusal *refusal);

#endif
