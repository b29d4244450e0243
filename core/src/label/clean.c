#include "clean.h"

#include "../util/utf8.h"

#include <string.h>

/* Printable ASCII, which nearly every text is, needs only a copy. */
static bool clean_plain(const char *text, size_t bytes) {
  unsigned bad = 0;
  size_t i;

  for (i = 0; i < bytes; i++) {
    unsigned char c = (unsigned char)text[i];

    bad |= (c < 0x20) | (c >= 0x80);
  }
  return bad == 0;
}

static bool clean_letter(unsigned char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
}

size_t sp_clean_text(const char *text, size_t bytes, char *out, bool *changed) {
  if (bytes <= SP_CLEAN_TEXT_MAX && clean_plain(text, bytes)) {
    *changed = false;
    if (bytes)
      memcpy(out, text, bytes);
    return bytes;
  }
  return sp_utf8_clean(text, bytes, out, SP_CLEAN_TEXT_MAX, changed);
}

size_t sp_clean_name(const char *text, size_t bytes, char *out, bool *changed) {
  size_t i, used = 0;

  *changed = bytes == 0;
  for (i = 0; i < bytes; i++) {
    unsigned char c = (unsigned char)text[i];
    bool inside = (c >= '0' && c <= '9') || c == '.';

    if (used == SP_CLEAN_NAME_MAX) {
      *changed = true;
      break;
    }
    if (clean_letter(c) || (inside && used > 0)) {
      out[used++] = (char)c;
      continue;
    }
    *changed = true;
    /* Bytes that continue a character have had their `_`. */
    if ((c & 0xc0) != 0x80 || used == 0)
      out[used++] = '_';
  }
  if (used == 0)
    out[used++] = '_';
  return used;
}
