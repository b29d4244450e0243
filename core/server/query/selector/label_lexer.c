#include "label_lexer.h"

#include <stdio.h>
#include <string.h>

sp_label_lexer sp_label_lexer_of(const char *text) {
  return (sp_label_lexer){.text = text, .at = text};
}

static bool lexer_is_letter(char c) {
  return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool lexer_is_digit(char c) {
  return c >= '0' && c <= '9';
}

static void lexer_accept(sp_label_lexer *lexer, sp_label_word word,
                         const char *end) {
  lexer->word = word;
  lexer->bytes = (size_t)(end - lexer->start);
  lexer->at = end;
}

/* Returns the number of bytes of the character at `at`, or 1 if the bytes are
 * not valid UTF-8. */
static int lexer_character_bytes(const char *at) {
  const unsigned char first = (unsigned char)*at;
  const int bytes = first < 0xc0 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  int i;

  for (i = 1; i < bytes; i++)
    if (((unsigned char)at[i] & 0xc0) != 0x80)
      return 1;
  return bytes;
}

static void lexer_fault(sp_label_lexer *lexer, const char *what,
                        const char *character) {
  int bytes = 0;

  if (character)
    bytes = lexer_character_bytes(character);
  if (!character)
    snprintf(lexer->fault, sizeof lexer->fault, "%s", what);
  else if (*character == '\'' || *character == '\\')
    snprintf(lexer->fault, sizeof lexer->fault, "%s: '\\%c'", what, *character);
  else if ((unsigned char)*character < ' ')
    snprintf(lexer->fault, sizeof lexer->fault, "%s: '\\x%02x'", what,
             (unsigned)*character);
  else
    snprintf(lexer->fault, sizeof lexer->fault, "%s: '%.*s'", what, bytes,
             character);
  lexer->word = SP_WORD_FAULT;
  lexer->bytes = 0;
}

static void lexer_string(sp_label_lexer *lexer) {
  const char quote = *lexer->start;
  const char *p = lexer->start + 1;

  for (; *p && *p != quote; p++) {
    if (quote == '`')
      continue;
    if (*p == '\n')
      break;
    if (*p == '\\' && p[1])
      p++;
  }
  if (*p == quote)
    lexer_accept(lexer, SP_WORD_STRING, p + 1);
  else
    lexer_fault(lexer,
                quote == '`' ? "unterminated raw string"
                             : "unterminated quoted string",
                NULL);
}

static void lexer_name(sp_label_lexer *lexer) {
  const char *p = lexer->start;
  bool metric = false;

  while (lexer_is_letter(*p) || lexer_is_digit(*p) ||
         (*p == ':' && !lexer->inside))
    metric |= *p++ == ':';
  lexer_accept(lexer, metric ? SP_WORD_METRIC_NAME : SP_WORD_NAME, p);
}

static void lexer_equal(sp_label_lexer *lexer) {
  if (lexer->start[1] == '~')
    lexer_accept(lexer, SP_WORD_REGEX, lexer->start + 2);
  else
    lexer_accept(lexer, SP_WORD_EQUAL, lexer->start + 1);
}

static void lexer_unequal(sp_label_lexer *lexer) {
  if (lexer->start[1] == '~')
    lexer_accept(lexer, SP_WORD_NO_REGEX, lexer->start + 2);
  else if (lexer->start[1] == '=')
    lexer_accept(lexer, SP_WORD_UNEQUAL, lexer->start + 2);
  else
    lexer_fault(lexer,
                lexer->inside ? "unexpected character after '!' inside braces"
                              : "unexpected character after '!'",
                lexer->start[1] ? lexer->start + 1 : NULL);
}

static void lexer_brace(sp_label_lexer *lexer) {
  if (*lexer->start == '{' && lexer->inside) {
    lexer_fault(lexer, "unexpected left brace '{'", NULL);
  } else if (*lexer->start == '}' && !lexer->inside) {
    lexer_fault(lexer, "unexpected right brace '}'", NULL);
  } else {
    lexer->inside = *lexer->start == '{';
    lexer_accept(lexer, lexer->inside ? SP_WORD_OPEN : SP_WORD_CLOSE,
                 lexer->start + 1);
  }
}

void sp_label_lexer_next(sp_label_lexer *lexer) {
  const char *p = lexer->at;

  if (lexer->word == SP_WORD_FAULT)
    return;
  while (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r')
    p++;
  lexer->start = p;
  if (*p == '\0' && lexer->inside)
    lexer_fault(lexer, "unexpected end of input inside braces", NULL);
  else if (*p == '\0')
    lexer_accept(lexer, SP_WORD_END, p);
  else if (*p == '{' || *p == '}')
    lexer_brace(lexer);
  else if (*p == ',')
    lexer_accept(lexer, SP_WORD_COMMA, p + 1);
  else if (*p == '"' || *p == '\'' || *p == '`')
    lexer_string(lexer);
  else if (*p == '=')
    lexer_equal(lexer);
  else if (*p == '!')
    lexer_unequal(lexer);
  else if (lexer_is_letter(*p) || (*p == ':' && !lexer->inside))
    lexer_name(lexer);
  else if (lexer_is_digit(*p) && !lexer->inside)
    lexer_accept(lexer, SP_WORD_NUMBER, p + strspn(p, "0123456789"));
  else
    lexer_fault(lexer,
                lexer->inside ? "unexpected character inside braces"
                              : "unexpected character",
                p);
}

void sp_label_lexer_describe(const sp_label_lexer *lexer, sp_buffer *out) {
  switch (lexer->word) {
  case SP_WORD_END:
    sp_buffer_text(out, "end of input");
    return;
  case SP_WORD_NAME:
    sp_buffer_text(out, "identifier ");
    break;
  case SP_WORD_METRIC_NAME:
    sp_buffer_text(out, "metric identifier ");
    break;
  case SP_WORD_STRING:
    sp_buffer_text(out, "string ");
    break;
  case SP_WORD_NUMBER:
    sp_buffer_text(out, "number ");
    break;
  default:
    break;
  }
  sp_label_quote(out, lexer->start, lexer->bytes);
}

void sp_label_quote(sp_buffer *out, const char *text, size_t bytes) {
  static const char plain[] = "\a\b\f\n\r\t\v\\\"", escaped[] = "abfnrtv\\\"";
  size_t i;

  sp_buffer_text(out, "\"");
  for (i = 0; i < bytes; i++) {
    const char *found = text[i] ? strchr(plain, text[i]) : NULL;

    if (found)
      sp_buffer_format(out, "\\%c", escaped[found - plain]);
    else if ((unsigned char)text[i] < ' ' || text[i] == 0x7f)
      sp_buffer_format(out, "\\x%02x", (unsigned)(unsigned char)text[i]);
    else
      sp_buffer_append(out, &text[i], 1);
  }
  sp_buffer_text(out, "\"");
}

/* Append a code point as UTF-8. Returns false if the code point is invalid. */
static bool unquote_code_point(sp_buffer *out, uint32_t code) {
  char bytes[4];
  size_t count;

  if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000) || code == 0)
    return false;
  if (code < 0x80) {
    bytes[0] = (char)code;
    count = 1;
  } else if (code < 0x800) {
    bytes[0] = (char)(0xc0 | code >> 6);
    count = 2;
  } else if (code < 0x10000) {
    bytes[0] = (char)(0xe0 | code >> 12);
    count = 3;
  } else {
    bytes[0] = (char)(0xf0 | code >> 18);
    count = 4;
  }
  for (size_t i = 1; i < count; i++)
    bytes[i] = (char)(0x80 | (code >> (6 * (count - 1 - i)) & 0x3f));
  sp_buffer_append(out, bytes, count);
  return true;
}

/* Read a number of `digits` digits in base 8 or 16. Returns false if there are
 * fewer digits. */
static bool unquote_number(const char **at, const char *end, int digits,
                           uint32_t base, uint32_t *out) {
  static const char all[] = "0123456789abcdef";

  *out = 0;
  for (; digits > 0; digits--, ++*at) {
    const char c = *at < end ? **at : '\0';
    const char *digit =
        c ? strchr(all, c >= 'A' && c <= 'F' ? c | 0x20 : c) : NULL;

    if (!digit || (uint32_t)(digit - all) >= base)
      return false;
    *out = *out * base + (uint32_t)(digit - all);
  }
  return true;
}

/* Append the character of one escape sequence. *at is after the backslash.
 * Returns false if the escape sequence is invalid. */
static bool unquote_escape(sp_buffer *out, const char **at, const char *end,
                           char quote) {
  static const char names[] = "abfnrtv\\", values[] = "\a\b\f\n\r\t\v\\";
  const char c = *at < end ? *(*at)++ : '\0';
  const char *found = c ? strchr(names, c) : NULL;
  uint32_t code;
  char byte;

  if (found || c == quote) {
    byte = found ? values[found - names] : quote;
    sp_buffer_append(out, &byte, 1);
    return true;
  }
  if (c == 'u' || c == 'U')
    return unquote_number(at, end, c == 'u' ? 4 : 8, 16, &code) &&
           unquote_code_point(out, code);
  if (c == 'x') {
    if (!unquote_number(at, end, 2, 16, &code))
      return false;
  } else {
    --*at;
    if (!unquote_number(at, end, 3, 8, &code) || code > 255)
      return false;
  }
  byte = (char)code;
  sp_buffer_append(out, &byte, 1);
  return byte != '\0';
}

bool sp_label_unquote(sp_buffer *out, const char *quoted, size_t bytes) {
  const char quote = quoted[0];
  const char *p = quoted + 1, *end = quoted + bytes - 1;

  if (quote == '`') {
    for (; p < end; p++)
      if (*p != '\r')
        sp_buffer_append(out, p, 1);
    return true;
  }
  while (p < end) {
    if (*p != '\\') {
      sp_buffer_append(out, p++, 1);
      continue;
    }
    p++;
    if (!unquote_escape(out, &p, end, quote))
      return false;
  }
  return true;
}
