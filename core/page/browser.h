/* Showing something in the browser of who runs the program. */
#ifndef SP_BROWSER_H
#define SP_BROWSER_H

#include "util/base.h"

/* Open an address or the path of a file with what BROWSER names, else with
 * xdg-open, wslview or open; returns when it has been started, and does not
 * wait for its end. SPANPROF_ERR_UNSUPPORTED: there is none, SPANPROF_ERR_IO:
 * it failed, both said in a sentence that does not name the address. */
spanprof_status sp_browser_open(const char *address);

#endif
