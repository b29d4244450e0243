/* Converts bytes to hexadecimal digits and back. */
#ifndef SP_HEX_H
#define SP_HEX_H

#include "util/base.h"

/* Write `count` bytes as 2 * count lowercase digits and a NUL. */
void sp_hex_write(const void *bytes, size_t count, char *out);

/* The value of a digit of either case, or -1 for other characters. */
static inline int sp_hex_digit(char digit) {
  if (digit >= '0' && digit <= '9')
    return digit - '0';
  if (digit >= 'a' && digit <= 'f')
    return digit - 'a' + 10;
  if (digit >= 'A' && digit <= 'F')
    return digit - 'A' + 10;
  return -1;
}

/* Read a number of `digits` digits (at most 16). Returns false at any other
 * character. */
bool sp_hex_read(const char *text, size_t digits, uint64_t *out);

#endif
