/* Percent-encoding of addresses: RFC 3986, 2.1. */
#ifndef SP_PERCENT_H
#define SP_PERCENT_H

#include "util/base.h"

/* Decode in place; returns the bytes that are left. What is no encoding stays
 * as it is, and so does "%00": no text of ours goes on behind a NUL. */
size_t sp_percent_decode(char *text);

#endif
