/* A selector of series as users write it: Prometheus' selector
 *   process_cpu{service_name="shop", span_name=~"GET .*"}
 * or classic Pyroscope's
 *   shop.cpu{profile_id="d6a1…"}
 * which begins with the application name, recognised by its dot or dash. */
#ifndef SP_LABEL_QUERY_H
#define SP_LABEL_QUERY_H

#include "matcher_list.h"

#define SP_LABEL_QUERY_BYTES_MAX ((size_t)64 << 10)

/* Add the selector's matchers to the list. A classic query becomes matchers of
 * service_name, and *type gets the profile type of its ending
 * ("process_cpu:cpu:nanoseconds:cpu:nanoseconds" for ".cpu"). Otherwise, *type
 * is NULL. `type` may be NULL. Returns SPANPROF_ERR_ARGUMENT if the text is
 * invalid, and sets *fault with a message in Prometheus' words, such as "1:15:
 * parse error: …". */
spanprof_status sp_label_query_parse(sp_matcher_list *list, const char *text,
                                     const char **type, sp_query_fault *fault);

#endif
