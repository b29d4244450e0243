#include "utf8.h"

#include <string.h>

/* The length of the valid character at `p`, or 0 if there is none. */
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
    size_t length;
    uint64_t eight;

    /* Most texts are ASCII: check eight bytes at a time. */
    if (bytes - i >= sizeof eight) {
      memcpy(&eight, p + i, sizeof eight);
      if (!(eight & UINT64_C(0x8080808080808080))) {
        i += sizeof eight;
        continue;
      }
    }
    length = character_length(p + i, bytes - i);
    if (length == 0)
      return false;
    i += length;
  }
  return true;
}

size_t sp_utf8_write(uint32_t code, char out[4]) {
  const size_t length = code < 0x80      ? 1
                        : code < 0x800   ? 2
                        : code < 0x10000 ? 3
                                         : 4;
  static const unsigned char leads[] = {0, 0, 0xc0, 0xe0, 0xf0};
  size_t i;

  for (i = length; i-- > 1; code >>= 6)
    out[i] = (char)(0x80 | (code & 0x3f));
  out[0] = (char)(leads[length] | code);
  return length;
}

/* Can the character control a terminal? These characters can: C0, DEL and C1 of
 * ISO 6429, the controls of Unicode's bidirectional algorithm (UAX #9, 2), and
 * the separators of lines and paragraphs. */
static bool character_controls(uint32_t code) {
  return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x61c ||
         code == 0x200e || code == 0x200f ||
         (code >= 0x2028 && code <= 0x202e) ||
         (code >= 0x2066 && code <= 0x2069);
}

static uint32_t character_code(const unsigned char *p, size_t length) {
  uint32_t code = length == 1 ? p[0] : p[0] & (0x7fu >> length);
  size_t i;

  for (i = 1; i < length; i++)
    code = code << 6 | (p[i] & 0x3f);
  return code;
}

static size_t utf8_copy(const char *text, size_t bytes, char *out,
                        size_t capacity, bool printable, bool *changed) {
  const unsigned char *p = (const unsigned char *)text;
  size_t in = 0, used = 0;

  *changed = false;
  while (in < bytes) {
    size_t length = character_length(p + in, bytes - in);
    bool bad =
        length == 0 || p[in] < 0x20 ||
        (printable && character_controls(character_code(p + in, length)));

    /* Each byte of a bad character becomes `?`, because its later bytes are not
     * characters themselves. */
    if (bad)
      length = 1;
    if (used + length > capacity) {
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

size_t sp_utf8_clean(const char *text, size_t bytes, char *out, size_t capacity,
                     bool *changed) {
  return utf8_copy(text, bytes, out, capacity, false, changed);
}

size_t sp_utf8_printable(const char *text, size_t bytes, char *out,
                         size_t capacity) {
  bool changed;

  return utf8_copy(text, bytes, out, capacity, true, &changed);
}
