/* The name of a frame without a symbol, for reports and for the server. go tool
 * pprof shows the same names. */
#ifndef SP_MODULE_NAME_H
#define SP_MODULE_NAME_H

#include "util/base.h"

#define SP_MODULE_NAME_BYTES 208 /* size of a name, including the NUL */

/* Write "[libz.so.1]" for the mapping file "/usr/lib/libz.so.1", "[vdso]" for
 * "[vdso]", and "[unknown]" for "". Returns the length. A longer name is
 * truncated at a character boundary. */
size_t sp_module_name(const char *file, size_t size,
                      char out[SP_MODULE_NAME_BYTES]);

#endif
