/* RE2's syntax: what it refuses is refused, with the words of Go's
 * regexp/syntax; what it takes becomes a pattern of PCRE2 that means the same.
 * https://github.com/google/re2/wiki/Syntax */
#ifndef SP_REGEX_RE2_H
#define SP_REGEX_RE2_H

#include "util/memory/buffer.h"

typedef struct sp_regex_fault {
  const char *what; /* "missing closing ]" */
  const char *at;   /* the part of the pattern that is at fault */
  size_t at_bytes;
} sp_regex_fault;

/* Append PCRE2's pattern (for PCRE2_UTF and PCRE2_DOTALL, without captures) of
 * `text`. A dot matches a newline, as in Prometheus' matchers.
 * SPANPROF_ERR_FORMAT: *fault is set. SPANPROF_ERR_NOMEM. */
spanprof_status sp_regex_from_re2(sp_buffer *out, const char *text,
                                  size_t bytes, sp_regex_fault *fault);

#endif
