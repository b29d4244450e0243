#include "regex_escape.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdio.h>
#include <string.h>

#define ESCAPE_CHARACTER_MAX 0x10ffff

/* The range of surrogates, which are not characters and which PCRE2 refuses. */
#define ESCAPE_SURROGATE_MIN 0xd800
#define ESCAPE_SURROGATE_MAX 0xdfff

/* The prefix of script names. Since PCRE2 10.40, a script name without "sc:"
 * means the script extensions, or a property that RE2 does not have. */
#if PCRE2_MAJOR > 10 || PCRE2_MINOR >= 40
#define ESCAPE_SCRIPT "sc:"
#else
#define ESCAPE_SCRIPT ""
#endif

spanprof_status sp_regex_refuse(sp_regex_text *text, const char *what,
                                const char *at, const char *end) {
  *text->fault =
      (sp_regex_fault){.what = what, .at = at, .at_bytes = (size_t)(end - at)};
  return SPANPROF_ERR_FORMAT;
}

uint32_t sp_regex_character(sp_regex_text *text) {
  const unsigned char *p = (const unsigned char *)text->at;
  const uint32_t first = *p;
  uint32_t more = first < 0xc0 ? 0 : first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;
  uint32_t character = more == 0 ? first : first & (0x3fu >> more);

  for (p++; more > 0 && p < (const unsigned char *)text->end; more--)
    character = character << 6 | (*p++ & 0x3fu);
  text->at = (const char *)p;
  return character;
}

static bool escape_is_word(uint32_t c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
         (c >= 'a' && c <= 'z');
}

void sp_regex_literal(sp_buffer *out, uint32_t character) {
  char byte = (char)character;

  if (escape_is_word(character))
    sp_buffer_append(out, &byte, 1);
  else if (character >= ESCAPE_SURROGATE_MIN &&
           character <= ESCAPE_SURROGATE_MAX)
    sp_buffer_text(out, "(?!)"); /* an assertion that never matches */
  else
    sp_buffer_format(out, "\\x{%x}", character);
}

static int escape_hex(uint32_t c) {
  if (c >= '0' && c <= '9')
    return (int)(c - '0');
  if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
    return (int)((c | 0x20) - 'a' + 10);
  return -1;
}

/* Read the digits after "\x". Returns false if they are invalid. */
static bool escape_read_hex(sp_regex_text *text, uint32_t *out) {
  int high, low;
  uint32_t c, digits = 0;

  if (text->at == text->end)
    return false;
  c = sp_regex_character(text);
  if (c != '{') {
    high = escape_hex(c);
    if (text->at == text->end)
      return false;
    low = escape_hex(sp_regex_character(text));
    *out = (uint32_t)(high * 16 + low);
    return high >= 0 && low >= 0;
  }
  for (*out = 0; text->at < text->end; digits++) {
    c = sp_regex_character(text);
    if (c == '}')
      return digits > 0;
    if (escape_hex(c) < 0)
      return false;
    *out = *out * 16 + (uint32_t)escape_hex(c);
    if (*out > ESCAPE_CHARACTER_MAX)
      return false;
  }
  return false;
}

/* Read one to three octal digits. The first one, `first`, has already been
 * read. Returns false for a single digit other than 0, which would be a back
 * reference; RE2 has none. */
static bool escape_read_octal(sp_regex_text *text, uint32_t first,
                              uint32_t *out) {
  uint32_t digits;

  if (first != '0' &&
      (text->at == text->end || *text->at < '0' || *text->at > '7'))
    return false;
  *out = first - '0';
  for (digits = 1; digits < 3 && text->at < text->end && *text->at >= '0' &&
                   *text->at <= '7';
       digits++)
    *out = *out * 8 + (uint32_t)(*text->at++ - '0');
  return true;
}

spanprof_status sp_regex_escape(sp_regex_text *text, uint32_t *out) {
  static const char names[] = "afnrtv", values[] = "\a\f\n\r\t\v";
  const char *start = text->at++, *name;
  uint32_t c;

  *out = 0;
  if (text->at == text->end)
    return sp_regex_refuse(text, "trailing backslash at end of expression",
                           text->end, text->end);
  c = sp_regex_character(text);
  if (c == 'x' && escape_read_hex(text, out))
    return SPANPROF_OK;
  if (c >= '0' && c <= '7' && escape_read_octal(text, c, out))
    return SPANPROF_OK;
  if (c < 0x80 && !escape_is_word(c)) {
    *out = c;
    return SPANPROF_OK;
  }
  name = c < 0x80 ? strchr(names, (int)c) : NULL;
  if (!name)
    return sp_regex_refuse(text, "invalid escape sequence", start, text->at);
  *out = (unsigned char)values[name - names];
  return SPANPROF_OK;
}

/* Returns the translation of \s or \S. RE2's \s does not match a vertical tab,
 * but PCRE2's does. */
static const char *escape_space(bool negated, bool inside_class) {
  if (inside_class)
    return negated ? "\\x{0}-\\x{8}\\x{b}\\x{e}-\\x{1f}\\x{21}-\\x{10ffff}"
                   : "\\t\\n\\f\\r\\x20";
  return negated ? "[^\\t\\n\\f\\r\\x20]" : "[\\t\\n\\f\\r\\x20]";
}

/* Returns whether a property name has the form of RE2's names: "L", "Lu",
 * "Han", "Old_Italic". PCRE2 checks whether the property exists. */
static bool escape_property_name(const char *name, size_t bytes) {
  size_t i;

  if (bytes == 0 || name[0] < 'A' || name[0] > 'Z')
    return false;
  if (bytes == 3 && name[0] == 'X')
    return false; /* Xan, Xps, Xsp and Xwd exist only in PCRE2 */
  for (i = 0; i < bytes; i++)
    if (!escape_is_word((unsigned char)name[i]) && name[i] != '_')
      return false;
  return true;
}

static void escape_property_write(const sp_regex_text *text, const char *name,
                                  size_t bytes, bool negated, sp_buffer *out) {
  const char *before = bytes > 2 ? ESCAPE_SCRIPT : "";

  if (bytes == 3 && memcmp(name, "Any", 3) == 0)
    before = "";
  /* With the flag `i`, RE2 also ignores case in a category, but PCRE2 does
   * not. */
  if (text->fold_case && bytes == 2 && name[0] == 'L' && strchr("ul", name[1]))
    name = "L&";
  sp_buffer_format(out, "\\%c{%s%.*s}", negated ? 'P' : 'p', before, (int)bytes,
                   name);
}

/* Translate "\pN", "\P{Greek}" or "\p{^Greek}". */
static spanprof_status escape_property(sp_regex_text *text, sp_buffer *out) {
  const char *start = text->at, *name, *end;
  bool negated = start[1] == 'P';

  text->at += 2;
  if (text->at < text->end && *text->at == '{') {
    name = text->at + 1;
    end = memchr(name, '}', (size_t)(text->end - name));
    if (!end)
      return sp_regex_refuse(text, "invalid character class range", start,
                             text->end);
    text->at = end + 1;
  } else {
    name = text->at;
    if (text->at < text->end)
      (void)sp_regex_character(text);
    end = text->at;
  }
  if (name < end && *name == '^') {
    negated = !negated;
    name++;
  }
  if (!escape_property_name(name, (size_t)(end - name)))
    return sp_regex_refuse(text, "invalid character class range", start,
                           text->at);
  escape_property_write(text, name, (size_t)(end - name), negated, out);
  return SPANPROF_OK;
}

spanprof_status sp_regex_class_escape(sp_regex_text *text, sp_buffer *out,
                                      bool inside_class, bool *found) {
  const char c =
      text->end - text->at >= 2 && text->at[0] == '\\' ? text->at[1] : '\0';

  *found = true;
  switch (c) {
  case 'd':
  case 'D':
  case 'w':
  case 'W':
    sp_buffer_format(out, "\\%c", c);
    break;
  case 's':
  case 'S':
    sp_buffer_text(out, escape_space(c == 'S', inside_class));
    break;
  case 'p':
  case 'P':
    return escape_property(text, out);
  default:
    *found = false;
    return SPANPROF_OK;
  }
  text->at += 2;
  return SPANPROF_OK;
}

/* Translate "[:alpha:]" or "[:^alpha:]". Sets *found to false if the text does
 * not begin with such a class. */
static spanprof_status class_named(sp_regex_text *text, sp_buffer *out,
                                   bool *found) {
  static const char names[] =
      " alnum alpha ascii blank cntrl digit graph lower print punct space "
      "upper word xdigit ";
  const char *start = text->at, *end = NULL, *name, *p;
  char padded[16];

  *found = false;
  if (text->end - start < 3 || start[0] != '[' || start[1] != ':')
    return SPANPROF_OK;
  for (p = start + 2; !end && p + 1 < text->end; p++)
    if (p[0] == ':' && p[1] == ']')
      end = p;
  if (!end)
    return SPANPROF_OK;
  *found = true;
  text->at = end + 2;
  name = start + 2;
  if (name < end && *name == '^')
    name++;
  snprintf(padded, sizeof padded, " %.*s ",
           (int)(end - name < 8 ? end - name : 8), name);
  if (end - name > 8 || end == name ||
      memchr(name, ' ', (size_t)(end - name)) || !strstr(names, padded))
    return sp_regex_refuse(text, "invalid character class range", start,
                           text->at);
  sp_buffer_append(out, start, (size_t)(text->at - start));
  return SPANPROF_OK;
}

static spanprof_status class_character(sp_regex_text *text, const char *class,
                                       uint32_t *out) {
  if (text->at == text->end)
    return sp_regex_refuse(text, "missing closing ]", class, text->end);
  if (*text->at == '\\')
    return sp_regex_escape(text, out);
  *out = sp_regex_character(text);
  return SPANPROF_OK;
}

/* Translate "a" or "a-z" in a class. */
static spanprof_status class_range(sp_regex_text *text, const char *class,
                                   sp_buffer *out) {
  const char *start = text->at;
  uint32_t low, high;
  spanprof_status st = class_character(text, class, &low);

  if (st)
    return st;
  high = low;
  if (text->end - text->at >= 2 && text->at[0] == '-' && text->at[1] != ']') {
    text->at++;
    st = class_character(text, class, &high);
    if (st)
      return st;
    if (high < low)
      return sp_regex_refuse(text, "invalid character class range", start,
                             text->at);
  }
  if (low >= ESCAPE_SURROGATE_MIN && low <= ESCAPE_SURROGATE_MAX)
    low = ESCAPE_SURROGATE_MAX + 1;
  if (high >= ESCAPE_SURROGATE_MIN && high <= ESCAPE_SURROGATE_MAX)
    high = ESCAPE_SURROGATE_MIN - 1;
  if (high < low)
    return SPANPROF_OK;
  sp_buffer_format(out, "\\x{%x}", low);
  if (high != low)
    sp_buffer_format(out, "-\\x{%x}", high);
  return SPANPROF_OK;
}

spanprof_status sp_regex_class(sp_regex_text *text, sp_buffer *out) {
  const char *class = text->at++;
  bool first = true, found;
  spanprof_status st;
  size_t empty;

  sp_buffer_text(out, "[");
  if (text->at < text->end && *text->at == '^') {
    sp_buffer_text(out, "^");
    text->at++;
  }
  empty = out->size;
  while (text->at == text->end || *text->at != ']' || first) {
    first = false;
    st = class_named(text, out, &found);
    if (!st && !found)
      st = sp_regex_class_escape(text, out, true, &found);
    if (!st && !found)
      st = class_range(text, class, out);
    if (st)
      return st;
  }
  text->at++;
  /* If the class has only surrogates, it matches no character or, if negated,
   * every character. */
  if (out->size == empty) {
    if (class[1] == '^' && !out->failed)
      out->size--;
    else
      sp_buffer_text(out, "^");
    sp_buffer_text(out, "\\x{0}-\\x{10ffff}");
  }
  sp_buffer_text(out, "]");
  return SPANPROF_OK;
}
