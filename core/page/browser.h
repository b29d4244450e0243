/* Opens the user's web browser. */
#ifndef SP_BROWSER_H
#define SP_BROWSER_H

#include "util/base.h"

/* Open an address or the path of a file with the command in BROWSER, else with
 * xdg-open, wslview or open. Returns when the browser has started, without
 * waiting for its exit. Returns SPANPROF_ERR_UNSUPPORTED if there is no
 * browser, and SPANPROF_ERR_IO if it failed, with a message that does not
 * contain the address. */
spanprof_status sp_browser_open(const char *address);

#endif
