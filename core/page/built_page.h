/* The web page that core/page is built into: one HTML file, which the server
 * and `spanprof report --html` use. */
#ifndef SP_BUILT_PAGE_H
#define SP_BUILT_PAGE_H

#include <stddef.h>

/* Returns the bytes of the page. *size is 0 if this build has no page, because
 * npm was missing. */
const char *sp_built_page(size_t *size);

/* The error message for builds without the page. */
#define SP_BUILT_PAGE_MISSING \
  "this build has no page: install npm and build again"

#endif
