#include "json_string.h"

#include <stdio.h>
#include <string.h>

#include "ascii.h"
#include "hex.h"
#include "utf8.h"

#define JSON_UNICODE_DIGITS 4

static bool json_unicode_digits(const char **text, const char *end,
                                uint64_t *out) {
  if (end - *text < JSON_UNICODE_DIGITS ||
      !sp_hex_read(*text, JSON_UNICODE_DIGITS, out))
    return false;
  *text += JSON_UNICODE_DIGITS;
  return true;
}

/* Read the XXXX of an escape \uXXXX. If it is a high surrogate, also read the
 * \uXXXX of its low surrogate. */
static size_t json_unicode(const char **text, const char *end,
                           char out[SP_JSON_CHARACTER_BYTES]) {
  const char *p = *text;
  uint64_t code, low;

  if (!json_unicode_digits(&p, end, &code))
    return 0;
  if (code >= 0xd800 && code < 0xdc00 && end - p >= 2 && p[0] == '\\' &&
      p[1] == 'u') {
    p += 2;
    if (!json_unicode_digits(&p, end, &low) || low < 0xdc00 || low >= 0xe000)
      return 0;
    code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
  }
  if (code >= 0xd800 && code < 0xe000)
    return 0;
  *text = p;
  return sp_utf8_write((uint32_t)code, out);
}

size_t sp_json_read(const char **text, const char *end,
                    char out[SP_JSON_CHARACTER_BYTES]) {
  static const char names[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
  const char *p = *text, *at;
  size_t size = 1;

  if (p == end || (unsigned char)*p < 0x20)
    return 0;
  out[0] = *p++;
  if (out[0] == '\\') {
    at = p < end && *p ? strchr(names, *p) : NULL;
    if (at)
      out[0] = meant[at - names];
    else if (p == end || *p != 'u')
      return 0;
    p++;
    if (!at)
      size = json_unicode(&p, end, out);
  }
  if (size)
    *text = p;
  return size;
}

const char *sp_json_escape(char c, bool in_html,
                           char out[SP_JSON_ESCAPE_BYTES]) {
  if (c == '"')
    return "\\\"";
  if (c == '\\')
    return "\\\\";
  if (c == '\n')
    return "\\n";
  if (!sp_ascii_control(c) && !(in_html && (c == '<' || c == '>' || c == '&')))
    return NULL;
  snprintf(out, SP_JSON_ESCAPE_BYTES, "\\u%04x", (unsigned char)c);
  return out;
}
