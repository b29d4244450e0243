#include "clean.h"

#include <string.h>

#include "ascii.h"
#include "utf8.h"

/* Is the text printable ASCII? Nearly every text is, and needs only a copy. */
static bool clean_plain(const char *text, size_t bytes) {
  unsigned bad = 0;
  size_t i;

  for (i = 0; i < bytes; i++) {
    unsigned char c = (unsigned char)text[i];

    bad |= (c < 0x20) | (c >= 0x80);
  }
  return bad == 0;
}

bool sp_clean_name_has(char c, size_t place) {
  return sp_ascii_letter(c) || c == '_' ||
         (place > 0 && (sp_ascii_digit(c) || c == '.'));
}

bool sp_clean_text_is(const char *text, size_t bytes) {
  size_t i;

  if (bytes > SP_CLEAN_TEXT_MAX)
    return false;
  if (clean_plain(text, bytes))
    return true;
  for (i = 0; i < bytes; i++)
    if ((unsigned char)text[i] < 0x20)
      return false;
  return sp_utf8_valid(text, bytes);
}

bool sp_clean_name_is(const char *text, size_t bytes) {
  size_t i;

  for (i = 0; i < bytes; i++)
    if (!sp_clean_name_has(text[i], i))
      return false;
  return bytes > 0 && bytes <= SP_CLEAN_NAME_MAX;
}

size_t sp_clean_text(const char *text, size_t bytes, char *out, bool *changed) {
  return sp_utf8_clean(text, bytes, out, SP_CLEAN_TEXT_MAX, changed);
}

size_t sp_clean_name(const char *text, size_t bytes, char *out, bool *changed) {
  size_t i, used = 0;

  *changed = bytes == 0;
  for (i = 0; i < bytes; i++) {
    unsigned char c = (unsigned char)text[i];

    if (used == SP_CLEAN_NAME_MAX) {
      *changed = true;
      break;
    }
    if (sp_clean_name_has((char)c, used)) {
      out[used++] = (char)c;
      continue;
    }
    *changed = true;
    /* The first byte of a character becomes `_`; its continuation bytes are
     * dropped. */
    if ((c & 0xc0) != 0x80 || used == 0)
      out[used++] = '_';
  }
  if (used == 0)
    out[used++] = '_';
  return used;
}

static bool clean_begins(const char *name, size_t bytes, const char *with) {
  size_t size = strlen(with);

  return bytes >= size && memcmp(name, with, size) == 0;
}

bool sp_clean_dots(char *name, size_t bytes) {
  bool changed = false;
  size_t i;

  if (clean_begins(name, bytes, "otel.scope.") ||
      clean_begins(name, bytes, "process.runtime."))
    return false;
  for (i = 0; i < bytes; i++)
    if (name[i] == '.') {
      name[i] = '_';
      changed = true;
    }
  return changed;
}
