/* The application in front of a classic Pyroscope query. */
#ifndef SP_CLASSIC_QUERY_H
#define SP_CLASSIC_QUERY_H

#include "matcher_list.h"

/* The bytes of the application's name that `text` begins with; 0: it is no
 * classic query, but may be Prometheus' selector. */
size_t sp_classic_name_bytes(const char *text);

/* Add the matcher of "shop.cpu": a service called "shop" or "shop.cpu". *type
 * is what the ending says of the profile type, or NULL. */
spanprof_status sp_classic_match(sp_matcher_list *list, const char *name,
                                 size_t bytes, const char **type,
                                 sp_query_fault *fault);

/* The profile type of such an ending, "cpu"; NULL: there is none. */
const char *sp_classic_type(const char *ending);

#endif
