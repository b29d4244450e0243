/* The page that core/page is built into: one HTML file, of the server and of
 * `spanprof report --html`. */
#ifndef SP_BUILT_PAGE_H
#define SP_BUILT_PAGE_H

#include <stddef.h>

/* Its bytes; *size 0: this build has none, since npm was not there. */
const char *sp_built_page(size_t *size);

/* The sentence for who wants it then. */
#define SP_BUILT_PAGE_MISSING \
  "this build has no page: install npm, and build it again"

#endif
