/* A regular expression of a user: POSIX extended, found anywhere in a text. */
#ifndef SP_PATTERN_H
#define SP_PATTERN_H

#include <regex.h>

#include "util/base.h"

typedef struct sp_pattern {
  bool given;
  regex_t regex;
} sp_pattern;

/* Compile it. A second call replaces the first expression.
 * SPANPROF_ERR_ARGUMENT, with a sentence. */
spanprof_status sp_pattern_set(sp_pattern *pattern, const char *text);
void sp_pattern_dispose(sp_pattern *pattern);

/* Returns false if no expression was given. */
bool sp_pattern_finds(const sp_pattern *pattern, const char *text);

#endif
