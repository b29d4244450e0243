/* A regular expression that a user gave, in POSIX extended syntax. A match may
 * be anywhere in a text. */
#ifndef SP_PATTERN_H
#define SP_PATTERN_H

#include <regex.h>

#include "util/base.h"

typedef struct sp_pattern {
  bool given;
  regex_t regex;
} sp_pattern;

/* Compile the regular expression `text`, which replaces the present one.
 * Returns SPANPROF_ERR_ARGUMENT and sets the error message if `text` is
 * invalid. */
spanprof_status sp_pattern_set(sp_pattern *pattern, const char *text);
void sp_pattern_dispose(sp_pattern *pattern);

/* Returns whether `text` contains a match. Returns false if no regular
 * expression was set. */
bool sp_pattern_finds(const sp_pattern *pattern, const char *text);

#endif
