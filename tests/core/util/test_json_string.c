#include "util/text/json_string.h"

#include <stdio.h>
#include <string.h>

#include "check.h"
#include "util/text/utf8.h"

/* Read all characters of the text. Returns false at an invalid character. */
static bool json_read_all(const char *text, size_t bytes, char *out) {
  const char *end = text + bytes;
  char character[SP_JSON_CHARACTER_BYTES];
  size_t size = 1;

  while (text < end && (size = sp_json_read(&text, end, character)) > 0) {
    memcpy(out, character, size);
    out += size;
  }
  *out = '\0';
  return size > 0;
}

static void escapes_are_decoded(void) {
  static const struct {
    const char *json, *text; /* `text` is NULL if the JSON string is invalid */
  } rows[] = {
      {"", ""},
      {"plain \xc3\xa9", "plain \xc3\xa9"},
      {"\\\"\\\\\\/\\b\\f\\n\\r\\t", "\"\\/\b\f\n\r\t"},
      {"\\u0041\\u00e9\\u20AC", "A\xc3\xa9\xe2\x82\xac"},
      {"\\ud83d\\ude00!", "\xf0\x9f\x98\x80!"},
      {"\\uD800", NULL},
      {"\\ud800\\u0041", NULL},
      {"\\ud800\\udbff", NULL},
      {"\\udc00", NULL},
      {"\\ud83d\\ude0", NULL},
      {"\\u12g4", NULL},
      {"\\u123", NULL},
      {"\\", NULL},
      {"\\x41", NULL},
      {"a\nb", NULL},
  };
  char out[64];
  size_t i;

  for (i = 0; i < SP_COUNT_OF(rows); i++) {
    CHECK_EQUAL(json_read_all(rows[i].json, strlen(rows[i].json), out),
                rows[i].text != NULL);
    if (rows[i].text)
      CHECK_TEXT(out, rows[i].text);
  }
}

static void nothing_is_read_past_the_end(void) {
  static const char json[] = "\\ud83d\\ude00";
  char out[64];
  size_t bytes;

  for (bytes = 1; bytes < sizeof json - 1; bytes++)
    CHECK(!json_read_all(json, bytes, out));
  CHECK(json_read_all(json, sizeof json - 1, out));
}

static void invalid_characters_are_not_skipped(void) {
  const char *json = "\\ud800\\u0041", *text = json;
  char out[SP_JSON_CHARACTER_BYTES];

  CHECK_EQUAL(sp_json_read(&text, json + strlen(json), out), 0);
  CHECK(text == json);
}

static void written_strings_are_read_back(void) {
  char escape[SP_JSON_ESCAPE_BYTES], json[16], out[16];
  int c, in_html;

  for (in_html = 0; in_html < 2; in_html++)
    for (c = 1; c < 256; c++) {
      const char *written = sp_json_escape((char)c, in_html, escape);

      snprintf(json, sizeof json, "%s%.*s", written ? written : "", !written,
               (const char[]){(char)c});
      CHECK(json_read_all(json, strlen(json), out));
      CHECK_TEXT(out, ((const char[]){(char)c, '\0'}));
      CHECK(!in_html || !strpbrk(json, "<>&"));
    }
}

static void every_code_point_is_written_as_utf8(void) {
  char out[4];
  uint32_t code;

  for (code = 0; code < 0x110000; code++)
    if (code < 0xd800 || code >= 0xe000)
      CHECK(sp_utf8_valid(out, sp_utf8_write(code, out)));
  CHECK_EQUAL(sp_utf8_write(0x20ac, out), 3);
  CHECK(memcmp(out, "\xe2\x82\xac", 3) == 0);
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"escapes_are_decoded", escapes_are_decoded},
      {"nothing_is_read_past_the_end", nothing_is_read_past_the_end},
      {"invalid_characters_are_not_skipped",
       invalid_characters_are_not_skipped},
      {"written_strings_are_read_back", written_strings_are_read_back},
      {"every_code_point_is_written_as_utf8",
       every_code_point_is_written_as_utf8},
  };

  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
