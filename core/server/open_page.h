/* The option --open of `spanprof serve`. */
#ifndef SP_OPEN_PAGE_H
#define SP_OPEN_PAGE_H

#include "util/base.h"

/* Show the server's page in the browser. `listen` is the address on which the
 * server listens, and `port` is its actual port. `base_path` may be NULL.
 * Returns SPANPROF_ERR_UNSUPPORTED if there is no page or no browser, or
 * SPANPROF_ERR_IO, and sets the error text. */
spanprof_status sp_open_page(const char *listen, uint16_t port,
                             const char *base_path);

#endif
