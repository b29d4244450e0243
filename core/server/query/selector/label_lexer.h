/* Splits a label selector into words, as Prometheus does. */
#ifndef SP_LABEL_LEXER_H
#define SP_LABEL_LEXER_H

#include "query_fault.h"
#include "util/memory/buffer.h"

typedef enum sp_label_word {
  SP_WORD_END,
  SP_WORD_NAME,        /* [a-zA-Z_][a-zA-Z0-9_]* */
  SP_WORD_METRIC_NAME, /* outside braces; may also contain ":" */
  SP_WORD_STRING,
  SP_WORD_NUMBER,
  SP_WORD_OPEN,
  SP_WORD_CLOSE,
  SP_WORD_COMMA,
  SP_WORD_EQUAL,
  SP_WORD_UNEQUAL,
  SP_WORD_REGEX,
  SP_WORD_NO_REGEX,
  SP_WORD_FAULT, /* invalid text, which `fault` describes */
} sp_label_word;

typedef struct sp_label_lexer {
  const char *text; /* NUL-terminated */
  const char *at;
  bool inside; /* inside braces */
  /* The current word: its kind, first byte and size. `fault` is the error if
   * the kind is SP_WORD_FAULT. */
  sp_label_word word;
  const char *start;
  size_t bytes;
  char fault[96];
} sp_label_lexer;

sp_label_lexer sp_label_lexer_of(const char *text);

/* Read the next word. */
void sp_label_lexer_next(sp_label_lexer *lexer);

/* Append the current word's description for messages: `identifier "or"`,
 * `"="`, `end of input`. */
void sp_label_lexer_describe(const sp_label_lexer *lexer, sp_buffer *out);

/* Append the text that a quoted string contains. Returns false if the string
 * has an invalid escape sequence. */
bool sp_label_unquote(sp_buffer *out, const char *quoted, size_t bytes);

/* Append a text in double quotes with escape sequences, like Go's %q. */
void sp_label_quote(sp_buffer *out, const char *text, size_t bytes);

#endif
