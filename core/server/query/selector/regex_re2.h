/* Translates regular expressions from RE2's syntax to PCRE2 patterns of the
 * same meaning. Expressions that RE2 refuses are refused with the messages of
 * Go's package regexp/syntax. https://github.com/google/re2/wiki/Syntax */
#ifndef SP_REGEX_RE2_H
#define SP_REGEX_RE2_H

#include "util/memory/buffer.h"

typedef struct sp_regex_fault {
  const char *what; /* the error: "missing closing ]" */
  const char *at;   /* the invalid part of the pattern */
  size_t at_bytes;
} sp_regex_fault;

/* Append the PCRE2 pattern for `text`, which needs PCRE2_UTF and PCRE2_DOTALL
 * and has no captures. A dot matches a newline, as in Prometheus' matchers.
 * Returns SPANPROF_ERR_FORMAT and sets *fault if the expression is invalid. Can
 * return SPANPROF_ERR_NOMEM. */
spanprof_status sp_regex_from_re2(sp_buffer *out, const char *text,
                                  size_t bytes, sp_regex_fault *fault);

#endif
