/* Interned texts: numbers for label names and values, for the life of the
 * process. Reading is lock-free, so that labels resolve on any thread. */
#ifndef SP_TEXT_H
#define SP_TEXT_H

#include "../util/base.h"

/* The bytes behind a number: valid for the life of the process. 0 is "". */
const char *sp_text_get(spanprof_text text, size_t *bytes);

#endif
