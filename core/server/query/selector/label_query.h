/* A selection of series as users write it: Prometheus' selector
 *   process_cpu{service_name="shop", span_name=~"GET .*"}
 * or classic Pyroscope's
 *   shop.cpu{profile_id="d6a1…"}
 * where the application, which has a dot or a dash in its name, stands in
 * front. */
#ifndef SP_LABEL_QUERY_H
#define SP_LABEL_QUERY_H

#include "matcher_list.h"

#define SP_LABEL_QUERY_BYTES_MAX ((size_t)64 << 10)

/* Add its matchers to the list. A classic query becomes matchers of
 * service_name; *type is then the profile type its ending says
 * ("process_cpu:cpu:nanoseconds:cpu:nanoseconds" of ".cpu"), otherwise NULL.
 * `type` may be NULL. SPANPROF_ERR_ARGUMENT: *fault is set, its message as
 * Prometheus words it, "1:15: parse error: …". */
spanprof_status sp_label_query_parse(sp_matcher_list *list, const char *text,
                                     const char **type, sp_query_fault *fault);

#endif
