#include "percent.h"

#include "util/text/hex.h"

size_t sp_percent_decode(char *text) {
  const char *from = text;
  char *to = text;

  while (*from) {
    const int high = *from == '%' ? sp_hex_digit(from[1]) : -1;
    const int low = high >= 0 ? sp_hex_digit(from[2]) : -1;

    if (low >= 0 && (high || low)) {
      *to++ = (char)(high << 4 | low);
      from += 3;
    } else {
      *to++ = *from++;
    }
  }
  *to = '\0';
  return (size_t)(to - text);
}
