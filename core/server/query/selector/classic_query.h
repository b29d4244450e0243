/* The application name that begins a classic Pyroscope query. */
#ifndef SP_CLASSIC_QUERY_H
#define SP_CLASSIC_QUERY_H

#include "matcher_list.h"

/* Returns the number of bytes of the application name at the beginning of
 * `text`. Returns 0 if `text` is not a classic query; it may be a Prometheus
 * selector. */
size_t sp_classic_name_bytes(const char *text);

/* Add the matcher for "shop.cpu": a service called "shop" or "shop.cpu". If the
 * name has a known ending, *type gets its profile type; `type` may be NULL.
 * SPANPROF_ERR_ARGUMENT: *fault is set. */
spanprof_status sp_classic_match(sp_matcher_list *list, const char *name,
                                 size_t bytes, const char **type,
                                 sp_query_fault *fault);

/* Returns the profile type of an ending, for example "cpu", or NULL if the
 * ending is unknown. */
const char *sp_classic_type(const char *ending);

#endif
