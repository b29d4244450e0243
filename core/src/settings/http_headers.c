#include "http_headers.h"

#include <string.h>
#include <strings.h>

#include "util/memory/buffer.h"
#include "util/text/ascii.h"
#include "util/text/json_string.h"
#include "util/text/list.h"
#include "util/text/utf8.h"

/* Maximum number of headers, which is more than any proxy needs. Servers accept
 * about 8 KiB of headers. */
#define HTTP_HEADERS_MAX 64

/* Headers that describe the body and its transfer. They cannot be set, because
 * any other value would break every upload. */
static const char *const http_headers_own[] = {
    "Content-Type",      "Content-Encoding", "Content-Length",
    "Transfer-Encoding", "Connection",       "Expect",
};

/* Is `c` a character of a header name (tchar in RFC 9110, section 5.6.2)? */
static bool header_name_byte(char c) {
  return sp_ascii_word(c) || (c && strchr("!#$%&'*+-.^_`|~", c));
}

static spanprof_status header_check(const sp_option_value *given,
                                    const char *name, size_t name_bytes,
                                    const char *value, size_t value_bytes) {
  char shown[SP_OPTION_SHOWN_BYTES];
  size_t i;

  if (name_bytes == 0)
    return sp_option_refuse(given, "has a header without a name");
  for (i = 0; i < name_bytes; i++) {
    if (!header_name_byte(name[i]))
      return sp_option_refuse(given,
                              "has a header name with an invalid character");
  }
  sp_option_show(name, name_bytes, shown);
  for (i = 0; i < SP_COUNT_OF(http_headers_own); i++) {
    if (strlen(http_headers_own[i]) == name_bytes &&
        strncasecmp(http_headers_own[i], name, name_bytes) == 0)
      return sp_option_refuse(
          given, "has the header %s, which spanprof sets itself", shown);
  }
  for (i = 0; i < value_bytes; i++) {
    if (sp_ascii_control(value[i]) && value[i] != '\t')
      return sp_option_refuse(
          given, "has a control character in the value of header %s", shown);
  }
  if (!sp_utf8_valid(value, value_bytes))
    return sp_option_refuse(
        given, "has a value that is not UTF-8 for header %s", shown);
  return SPANPROF_OK;
}

spanprof_status sp_http_headers_add(sp_http_headers *headers,
                                    const sp_option_value *given,
                                    const char *name, size_t name_bytes,
                                    const char *value, size_t value_bytes) {
  const char *name_end = name + name_bytes, *value_end = value + value_bytes;
  spanprof_status st;
  char *line;

  sp_list_trim(&name, &name_end);
  sp_list_trim(&value, &value_end);
  name_bytes = (size_t)(name_end - name);
  value_bytes = (size_t)(value_end - value);
  st = header_check(given, name, name_bytes, value, value_bytes);
  if (st || value_bytes == 0)
    return st;
  if (headers->count == HTTP_HEADERS_MAX)
    return sp_option_refuse(given, "has more than %d headers",
                            HTTP_HEADERS_MAX);
  if (sp_mem_reserve(headers->mem, (void **)&headers->lines, &headers->capacity,
                     headers->count + 1, sizeof *headers->lines))
    return sp_option_no_memory();
  line = sp_mem_new(headers->mem, name_bytes + value_bytes + 3);
  if (!line)
    return sp_option_no_memory();
  memcpy(line, name, name_bytes);
  memcpy(line + name_bytes, ": ", 2);
  memcpy(line + name_bytes + 2, value, value_bytes);
  line[name_bytes + 2 + value_bytes] = '\0';
  headers->lines[headers->count++] = line;
  return SPANPROF_OK;
}

static spanprof_status header_split(sp_http_headers *headers,
                                    const sp_option_value *given,
                                    char separator, char mark) {
  sp_list lines = sp_list_of(given->text, separator);
  spanprof_status st = SPANPROF_OK;
  sp_name_value pair;

  while (!st && sp_list_next(&lines))
    st = sp_list_pair(&lines, mark, &pair)
             ? sp_http_headers_add(headers, given, pair.name, pair.name_bytes,
                                   pair.value, pair.value_bytes)
             : sp_option_refuse(given, "has no %s in header %zu",
                                mark == ':' ? "colon" : "equals sign",
                                lines.number);
  return st;
}

typedef struct header_json {
  const sp_option_value *given;
  const char *p;
  const char *end;
  sp_buffer name;
  sp_buffer value;
} header_json;

static spanprof_status header_json_refuse(const header_json *json,
                                          const char *expected) {
  return sp_option_refuse(
      json->given,
      "is not a JSON object with strings as values: %s expected at byte %zu",
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
    return header_json_refuse(json, "a quoted string");
  for (json->p++; *json->p != '"'; sp_buffer_append(out, character, size)) {
    size = sp_json_read(&json->p, json->end, character);
    if (!size)
      return header_json_refuse(json, *json->p != '\\' ? "the end of a string"
                                      : json->p[1] == 'u'
                                          ? "a character after \\u"
                                          : "a valid escape");
  }
  json->p++;
  return sp_buffer_status(out) ? sp_option_no_memory() : SPANPROF_OK;
}

/* Read one member of the object: "name": "value". */
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

/* Add the headers of a JSON object (RFC 8259) whose values are texts. An error
 * message contains the position of the wrong byte, but no value. */
static spanprof_status header_json_parse(sp_http_headers *headers,
                                         const sp_option_value *given) {
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

spanprof_status sp_http_headers_parse(sp_http_headers *out, const sp_mem *mem,
                                      const sp_option_value *given) {
  const char *text = given->text + strspn(given->text, " \t\r\n");
  const char *mark = strpbrk(text, ":=");
  spanprof_status st;

  memset(out, 0, sizeof *out);
  out->mem = mem;
  if (!*text)
    return SPANPROF_OK;
  if (*text == '{')
    st = header_json_parse(out, given);
  else if (mark && *mark == '=')
    st = header_split(out, given, ',', '=');
  else
    st = header_split(out, given, '\n', ':');
  if (st)
    sp_http_headers_dispose(out);
  return st;
}

void sp_http_headers_dispose(sp_http_headers *headers) {
  size_t i;

  for (i = 0; i < headers->count; i++)
    sp_mem_free(headers->mem, headers->lines[i]);
  sp_mem_free(headers->mem, headers->lines);
  headers->lines = NULL;
  headers->count = headers->capacity = 0;
}

bool sp_http_headers_have(const sp_http_headers *headers, const char *name) {
  size_t i, bytes = strlen(name);

  for (i = 0; i < headers->count; i++) {
    if (strncasecmp(headers->lines[i], name, bytes) == 0 &&
        headers->lines[i][bytes] == ':')
      return true;
  }
  return false;
}
