/* Opens the user's web browser. */
#ifndef SP_BROWSER_H
#define SP_BROWSER_H

#include "util/base.h"

/* Open an address or the path of a file with the command in BROWSER, else with
 * xdg-open, wslview or open. Does not wait for the exit of the browser. Returns
 * SPANPROF_ERR_UNSUPPORTED if there is no browser, and SPANPROF_ERR_IO if it
 * failed to start, and sets an error message that does not contain the address.
 */
spanprof_status sp_browser_open(const char *address);

#endif
