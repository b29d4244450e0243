/* The message push.v1.PushRequest, in protobuf or JSON: profiles by series. */
#ifndef SP_PUSH_REQUEST_H
#define SP_PUSH_REQUEST_H

#include "server/receive/profile/series_labels.h"
#include "server/receive/wire/refusal.h"

/* Largest number of profiles in a request, and of labels of a series, including
 * empty labels. All labels are processed again for each profile, so the numbers
 * must be limited; clients send few. */
#define SP_PUSH_PROFILES_MAX ((size_t)10000)
#define SP_PUSH_LABELS_MAX   SP_LIMITS_LABELS_MAX

/* Receives one profile, still compressed, with its id and the labels of its
 * series. It may change `labels`, whose texts belong to the request. */
typedef spanprof_status (*sp_push_visit)(void *data, sp_series_labels *labels,
                                         sp_view profile, sp_view id);

/* Convert a request from JSON to protobuf. */
spanprof_status sp_push_request_json(sp_view json, sp_buffer *out,
                                     sp_refusal *refusal);

/* Check the whole request, then call `visit` for each profile until a call
 * fails. A malformed request is refused before the first call. `mem` allocates
 * lists of labels. */
spanprof_status sp_push_request_each(sp_view message, const sp_mem *mem,
                                     sp_push_visit visit, void *data,
                                     sp_refusal *refusal);

#endif
