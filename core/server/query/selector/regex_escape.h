/* Escapes and character classes of RE2, each read from `*at` and appended as
 * PCRE2 writes it. */
#ifndef SP_REGEX_ESCAPE_H
#define SP_REGEX_ESCAPE_H

#include "regex_re2.h"

typedef struct sp_regex_text {
  const char *at;
  const char *end;
  sp_regex_fault *fault;
  bool fold_case; /* of what is read now */
} sp_regex_text;

/* Set *fault; returns SPANPROF_ERR_FORMAT. */
spanprof_status sp_regex_refuse(sp_regex_text *text, const char *what,
                                const char *at, const char *end);

/* The character at `at` of valid UTF-8; steps over it. */
uint32_t sp_regex_character(sp_regex_text *text);

/* A character that stands for itself. */
void sp_regex_literal(sp_buffer *out, uint32_t character);

/* "\n", "\x{2a}", "\.": *out is the character. At the backslash. */
spanprof_status sp_regex_escape(sp_regex_text *text, uint32_t *out);

/* "\d", "\pL", "\p{Han}": *taken says whether there was one. */
spanprof_status sp_regex_class_escape(sp_regex_text *text, sp_buffer *out,
                                      bool inside_class, bool *taken);

/* "[a-z]", at its bracket. */
spanprof_status sp_regex_class(sp_regex_text *text, sp_buffer *out);

#endif
