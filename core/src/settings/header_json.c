#include "header_json.h"

#include <string.h>

#include "../util/buffer.h"
#include "../util/hex.h"

typedef struct header_json {
  const sp_given *given;
  const char *p;
  sp_buffer name;
  sp_buffer value;
} header_json;

static spanprof_status header_json_refuse(const header_json *json,
                                          const char *expected) {
  return sp_given_refuse(json->given,
                         "is not a JSON object of texts: %s expected at byte "
                         "%zu",
                         expected, (size_t)(json->p - json->given->text) + 1);
}

static void header_json_space(header_json *json) {
  json->p += strspn(json->p, " \t\r\n");
}

/* Four hex digits; 0x110000, which is no character, where there are none. */
static uint32_t header_json_hex(const char *p) {
  uint32_t code = 0;
  size_t i;

  for (i = 0; i < 4; i++) {
    const int digit = sp_hex_digit(p[i]);

    if (digit < 0)
      return 0x110000;
    code = code << 4 | (uint32_t)digit;
  }
  return code;
}

static void header_json_utf8(sp_buffer *out, uint32_t code) {
  char bytes[4];
  size_t length = 0;

  if (code < 0x80) {
    bytes[length++] = (char)code;
  } else if (code < 0x800) {
    bytes[length++] = (char)(0xc0 | code >> 6);
    bytes[length++] = (char)(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    bytes[length++] = (char)(0xe0 | code >> 12);
    bytes[length++] = (char)(0x80 | (code >> 6 & 0x3f));
    bytes[length++] = (char)(0x80 | (code & 0x3f));
  } else {
    bytes[length++] = (char)(0xf0 | code >> 18);
    bytes[length++] = (char)(0x80 | (code >> 12 & 0x3f));
    bytes[length++] = (char)(0x80 | (code >> 6 & 0x3f));
    bytes[length++] = (char)(0x80 | (code & 0x3f));
  }
  sp_buffer_append(out, bytes, length);
}

/* \uXXXX with json->p behind the `u`; a pair of surrogates is one character. */
static spanprof_status header_json_unicode(header_json *json, sp_buffer *out) {
  uint32_t code = header_json_hex(json->p), low;

  if (code < 0x10000)
    json->p += 4;
  if (code >= 0xd800 && code < 0xdc00 && json->p[0] == '\\' &&
      json->p[1] == 'u') {
    low = header_json_hex(json->p + 2);
    if (low >= 0xdc00 && low < 0xe000) {
      code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
      json->p += 6;
    }
  }
  if (code >= 0x110000 || (code >= 0xd800 && code < 0xe000))
    return header_json_refuse(json, "a character after \\u");
  header_json_utf8(out, code);
  return SPANPROF_OK;
}

static spanprof_status header_json_escape(header_json *json, sp_buffer *out) {
  static const char names[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
  const char *at = *json->p ? strchr(names, *json->p) : NULL;

  if (*json->p == 'u') {
    json->p++;
    return header_json_unicode(json, out);
  }
  if (!at)
    return header_json_refuse(json, "an escape");
  sp_buffer_append(out, &meant[at - names], 1);
  json->p++;
  return SPANPROF_OK;
}

static spanprof_status header_json_text(header_json *json, sp_buffer *out) {
  spanprof_status st = SPANPROF_OK;

  sp_buffer_clear(out);
  if (*json->p != '"')
    return header_json_refuse(json, "a quoted text");
  json->p++;
  while (!st && *json->p != '"') {
    if ((unsigned char)*json->p < 0x20) {
      st = header_json_refuse(json, "the end of a text");
    } else if (*json->p == '\\') {
      json->p++;
      st = header_json_escape(json, out);
    } else {
      sp_buffer_append(out, json->p++, 1);
    }
  }
  if (!st && sp_buffer_status(out))
    st = sp_given_no_memory();
  if (!st)
    json->p++;
  return st;
}

/* "name": "value" */
static spanprof_status header_json_member(header_json *json,
                                          sp_http_headers *headers) {
  spanprof_status st = header_json_text(json, &json->name);

  if (st)
    return st;
  header_json_space(json);
  if (*json->p != ':')
    return header_json_refuse(json, "a colon");
  json->p++;
  header_json_space(json);
  st = header_json_text(json, &json->value);
  if (st)
    return st;
  header_json_space(json);
  return sp_http_headers_add(
      headers, json->given, json->name.size ? json->name.data : "",
      json->name.size, json->value.size ? json->value.data : "",
      json->value.size);
}

static spanprof_status header_json_object(header_json *json,
                                          sp_http_headers *headers) {
  spanprof_status st = SPANPROF_OK;

  header_json_space(json);
  if (*json->p != '{')
    return header_json_refuse(json, "{");
  json->p++;
  header_json_space(json);
  if (*json->p != '}') {
    st = header_json_member(json, headers);
    while (!st && *json->p == ',') {
      json->p++;
      header_json_space(json);
      st = header_json_member(json, headers);
    }
  }
  if (st)
    return st;
  if (*json->p != '}')
    return header_json_refuse(json, ", or }");
  json->p++;
  header_json_space(json);
  return *json->p ? header_json_refuse(json, "the end") : SPANPROF_OK;
}

spanprof_status sp_header_json_parse(sp_http_headers *headers,
                                     const sp_given *given) {
  header_json json = {.given = given, .p = given->text};
  spanprof_status st;

  sp_buffer_init(&json.name, headers->mem);
  sp_buffer_init(&json.value, headers->mem);
  st = header_json_object(&json, headers);
  sp_buffer_dispose(&json.name);
  sp_buffer_dispose(&json.value);
  return st;
}
