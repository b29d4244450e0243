/* Regular expressions in RE2's syntax, matched against whole texts in bounded
 * time. */
#ifndef SP_REGEX_MATCH_H
#define SP_REGEX_MATCH_H

#include "regex_re2.h"

typedef struct sp_regex sp_regex;

/* Compile an expression. Returns SPANPROF_ERR_FORMAT and sets *fault if the
 * expression is invalid. Can return SPANPROF_ERR_NOMEM. */
spanprof_status sp_regex_new(sp_regex **out, const sp_mem *mem,
                             const char *text, size_t bytes,
                             sp_regex_fault *fault);
void sp_regex_free(sp_regex *regex); /* accepts NULL */

/* Set *out to whether the expression matches the whole `text`. Returns
 * SPANPROF_ERR_LIMIT if this would take too much time or memory. Only one
 * thread at a time may use `regex`. */
spanprof_status sp_regex_match(sp_regex *regex, const char *text, size_t bytes,
                               bool *out);

#endif
