/* `spanprof serve --open`. */
#ifndef SP_OPEN_PAGE_H
#define SP_OPEN_PAGE_H

#include "util/base.h"

/* Show the server's page in the browser. `listen` is the address that the
 * server listens on, `port` its actual port. SPANPROF_ERR_UNSUPPORTED if there
 * is no page or no browser; SPANPROF_ERR_IO. Both set an error message. */
spanprof_status sp_open_page(const char *listen, uint16_t port);

#endif
