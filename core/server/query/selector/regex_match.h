/* Regular expressions in RE2's syntax, matched against whole texts in bounded
 * time. */
#ifndef SP_REGEX_MATCH_H
#define SP_REGEX_MATCH_H

#include "regex_re2.h"

typedef struct sp_regex sp_regex;

/* Compile an expression. SPANPROF_ERR_FORMAT: *fault describes the error.
 * SPANPROF_ERR_NOMEM. */
spanprof_status sp_regex_new(sp_regex **out, const sp_mem *mem,
                             const char *text, size_t bytes,
                             sp_regex_fault *fault);
void sp_regex_free(sp_regex *regex); /* NULL is fine */

/* Sets *out to whether all of `text` matches. SPANPROF_ERR_LIMIT: matching
 * would take too much time or memory. Only one thread at a time may use
 * `regex`. */
spanprof_status sp_regex_match(sp_regex *regex, const char *text, size_t bytes,
                               bool *out);

#endif
