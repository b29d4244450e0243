/* Percent-encoding of addresses: RFC 3986, 2.1. */
#ifndef SP_PERCENT_H
#define SP_PERCENT_H

#include "util/base.h"

/* Decode the text in place, and return its new number of bytes. Invalid escapes
 * stay unchanged, and so does "%00", because a NUL would end the text. */
size_t sp_percent_decode(char *text);

#endif
