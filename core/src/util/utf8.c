#include "utf8.h"

#include <string.h>

/* Length of the valid character at `p`, 0 where there is none. */
static size_t character_length(const unsigned char *p, size_t left) {
  unsigned char lead = p[0];

  if (lead < 0x80)
    return 1;
  if (lead < 0xc2 || left < 2 || (p[1] & 0xc0) != 0x80)
    return 0;
  if (lead < 0xe0)
    return 2;
  if (left < 3 || (p[2] & 0xc0) != 0x80)
    return 0;
  if (lead == 0xe0 && p[1] < 0xa0)
    return 0;
  if (lead == 0xed && p[1] > 0x9f)
    return 0;
  if (lead < 0xf0)
    return 3;
  if (lead > 0xf4 || left < 4 || (p[3] & 0xc0) != 0x80)
    return 0;
  if ((lead == 0xf0 && p[1] < 0x90) || (lead == 0xf4 && p[1] > 0x8f))
    return 0;
  return 4;
}

bool sp_utf8_valid(const char *text, size_t bytes) {
  const unsigned char *p = (const unsigned char *)text;
  size_t i = 0;

  while (i < bytes) {
    size_t length = character_length(p + i, bytes - i);

    if (length == 0)
      return false;
    i += length;
  }
  return true;
}

size_t sp_utf8_clean(const char *text, size_t bytes, char *out, size_t capacity,
                     bool *changed) {
  const unsigned char *p = (const unsigned char *)text;
  size_t in = 0, used = 0;

  *changed = false;
  while (in < bytes) {
    size_t length = character_length(p + in, bytes - in);
    bool bad = length == 0 || p[in] < 0x20;

    if (length == 0)
      length = 1;
    if (used + (bad ? 1 : length) > capacity) {
      *changed = true;
      break;
    }
    if (bad) {
      out[used++] = '?';
      *changed = true;
    } else {
      memmove(out + used, text + in, length);
      used += length;
    }
    in += length;
  }
  return used;
}
