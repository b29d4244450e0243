/* Translates RE2's escape sequences and character classes to PCRE2. The
 * functions that read do so at text->at, and advance it. */
#ifndef SP_REGEX_ESCAPE_H
#define SP_REGEX_ESCAPE_H

#include "regex_re2.h"

typedef struct sp_regex_text {
  const char *at;
  const char *end;
  sp_regex_fault *fault;
  bool fold_case; /* the flag `i` is set at `at` */
} sp_regex_text;

/* Set *text->fault: `what` is wrong from `at` to `end`. Returns
 * SPANPROF_ERR_FORMAT. */
spanprof_status sp_regex_refuse(sp_regex_text *text, const char *what,
                                const char *at, const char *end);

/* Read one character of valid UTF-8. */
uint32_t sp_regex_character(sp_regex_text *text);

/* Append a pattern that matches only this character. */
void sp_regex_literal(sp_buffer *out, uint32_t character);

/* Read the escape sequence of one character, such as "\n", "\x{2a}" or "\.".
 * text->at is at its backslash. */
spanprof_status sp_regex_escape(sp_regex_text *text, uint32_t *out);

/* Translate an escape sequence of a class, such as "\d", "\pL" or "\p{Han}".
 * Sets *found to false if the text does not begin with one. */
spanprof_status sp_regex_class_escape(sp_regex_text *text, sp_buffer *out,
                                      bool inside_class, bool *found);

/* Translate a class such as "[a-z]". text->at is at its opening bracket. */
spanprof_status sp_regex_class(sp_regex_text *text, sp_buffer *out);

#endif
