/* Translates RE2's escapes and character classes to PCRE2. Each function reads
 * at text->at and advances it. */
#ifndef SP_REGEX_ESCAPE_H
#define SP_REGEX_ESCAPE_H

#include "regex_re2.h"

typedef struct sp_regex_text {
  const char *at;
  const char *end;
  sp_regex_fault *fault;
  bool fold_case; /* in effect at `at` */
} sp_regex_text;

/* Set *fault; returns SPANPROF_ERR_FORMAT. */
spanprof_status sp_regex_refuse(sp_regex_text *text, const char *what,
                                const char *at, const char *end);

/* Read one character of valid UTF-8. */
uint32_t sp_regex_character(sp_regex_text *text);

/* Append a character that matches itself. */
void sp_regex_literal(sp_buffer *out, uint32_t character);

/* Read the escape of one character, "\n", "\x{2a}" or "\.", from its
 * backslash. */
spanprof_status sp_regex_escape(sp_regex_text *text, uint32_t *out);

/* Translate "\d", "\pL" or "\p{Han}". Sets *found to whether there was one. */
spanprof_status sp_regex_class_escape(sp_regex_text *text, sp_buffer *out,
                                      bool inside_class, bool *found);

/* Translate "[a-z]" from its bracket. */
spanprof_status sp_regex_class(sp_regex_text *text, sp_buffer *out);

#endif
