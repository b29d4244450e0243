/* The application name at the beginning of a classic Pyroscope query. */
#ifndef SP_CLASSIC_QUERY_H
#define SP_CLASSIC_QUERY_H

#include "matcher_list.h"

/* Returns the number of bytes of the application name at the beginning of
 * `text`. Returns 0 if `text` is not a classic query; it may be a Prometheus
 * selector instead. */
size_t sp_classic_name_bytes(const char *text);

/* Add the matcher for an application name such as "shop.cpu", which matches the
 * services "shop" and "shop.cpu". If the name has a known ending, *type gets
 * the profile type of the ending; `type` may be NULL. Returns
 * SPANPROF_ERR_ARGUMENT and sets *fault if the matcher cannot be added. */
spanprof_status sp_classic_match(sp_matcher_list *list, const char *name,
                                 size_t bytes, const char **type,
                                 sp_query_fault *fault);

/* Returns the profile type of an ending, for example "cpu", or NULL if the
 * ending is unknown. */
const char *sp_classic_type(const char *ending);

#endif
