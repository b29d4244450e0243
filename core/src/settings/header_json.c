#include "header_json.h"

#include <string.h>

#include "util/memory/buffer.h"
#include "util/text/json_string.h"

typedef struct header_json {
  const sp_given *given;
  const char *p;
  const char *end;
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

static spanprof_status header_json_text(header_json *json, sp_buffer *out) {
  char character[SP_JSON_CHARACTER_BYTES];
  size_t size;

  sp_buffer_clear(out);
  if (*json->p != '"')
    return header_json_refuse(json, "a quoted text");
  for (json->p++; *json->p != '"'; sp_buffer_append(out, character, size)) {
    size = sp_json_read(&json->p, json->end, character);
    if (!size)
      return header_json_refuse(json, *json->p != '\\' ? "the end of a text"
                                      : json->p[1] == 'u'
                                          ? "a character after \\u"
                                          : "an escape");
  }
  json->p++;
  return sp_buffer_status(out) ? sp_given_no_memory() : SPANPROF_OK;
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
  header_json json = {.given = given,
                      .p = given->text,
                      .end = given->text + strlen(given->text)};
  spanprof_status st;

  sp_buffer_init(&json.name, headers->mem);
  sp_buffer_init(&json.value, headers->mem);
  st = header_json_object(&json, headers);
  sp_buffer_dispose(&json.name);
  sp_buffer_dispose(&json.value);
  return st;
}
