/* `spanprof serve --open`. */
#ifndef SP_OPEN_PAGE_H
#define SP_OPEN_PAGE_H

#include "util/base.h"

/* Show the server's page in the browser. `listen` is the address that it
 * listens at, `port` the port that it got. SPANPROF_ERR_UNSUPPORTED (no page,
 * no browser), SPANPROF_ERR_IO, in a sentence. */
spanprof_status sp_open_page(const char *listen, uint16_t port);

#endif
