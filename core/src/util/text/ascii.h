/* Character classes, independent of the locale. */
#ifndef SP_ASCII_H
#define SP_ASCII_H

#include "util/base.h"

static inline bool sp_ascii_digit(char c) {
  return c >= '0' && c <= '9';
}

static inline bool sp_ascii_letter(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

/* A letter or a digit. */
static inline bool sp_ascii_word(char c) {
  return sp_ascii_letter(c) || sp_ascii_digit(c);
}

/* C0 controls and DEL. No text from a user may contain them. */
static inline bool sp_ascii_control(char c) {
  return (unsigned char)c < 0x20 || c == 0x7f;
}

/* The position of the first control character, or `bytes` if there is none. */
static inline size_t sp_ascii_find_control(const char *text, size_t bytes) {
  size_t i = 0;

  while (i < bytes && !sp_ascii_control(text[i]))
    i++;
  return i;
}

#endif
