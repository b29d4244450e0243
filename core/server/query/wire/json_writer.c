#include "json_writer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/text/json_string.h"

sp_json sp_json_of(sp_buffer *out) {
  return (sp_json){.out = out};
}

static void json_before(sp_json *json) {
  if (json->comma)
    sp_buffer_append(json->out, ",", 1);
  json->comma = true;
}

void sp_json_open(sp_json *json, char bracket) {
  json_before(json);
  sp_buffer_append(json->out, &bracket, 1);
  json->comma = false;
}

void sp_json_close(sp_json *json, char bracket) {
  sp_buffer_append(json->out, &bracket, 1);
  json->comma = true;
}

void sp_json_key(sp_json *json, const char *name) {
  sp_json_text(json, name);
  sp_buffer_append(json->out, ":", 1);
  json->comma = false;
}

void sp_json_text_bytes(sp_json *json, const char *text, size_t bytes) {
  char escape[SP_JSON_ESCAPE_BYTES];
  size_t i, plain = 0;

  json_before(json);
  sp_buffer_append(json->out, "\"", 1);
  for (i = 0; i < bytes; i++) {
    const char *written = sp_json_escape(text[i], false, escape);

    if (!written)
      continue;
    sp_buffer_append(json->out, text + plain, i - plain);
    sp_buffer_text(json->out, written);
    plain = i + 1;
  }
  sp_buffer_append(json->out, text + plain, bytes - plain);
  sp_buffer_append(json->out, "\"", 1);
}

void sp_json_text(sp_json *json, const char *text) {
  sp_json_text_bytes(json, text, strlen(text));
}

void sp_json_int(sp_json *json, int64_t number) {
  json_before(json);
  sp_buffer_number(json->out, number);
}

void sp_json_int_text(sp_json *json, int64_t number) {
  json_before(json);
  sp_buffer_append(json->out, "\"", 1);
  sp_buffer_number(json->out, number);
  sp_buffer_append(json->out, "\"", 1);
}

void sp_json_double(sp_json *json, double number) {
  char text[40];
  int digits;

  json_before(json);
  if (!isfinite(number)) {
    sp_buffer_text(json->out, "null"); /* JSON has no infinity and no NaN */
    return;
  }
  if (fabs(number) < 9e15 && number == floor(number)) {
    sp_buffer_number(json->out, (int64_t)number);
    return;
  }
  for (digits = 15; digits <= 17; digits++) {
    snprintf(text, sizeof text, "%.*g", digits, number);
    if (strtod(text, NULL) == number)
      break;
  }
  sp_buffer_text(json->out, text);
}

void sp_json_bool(sp_json *json, bool value) {
  sp_json_raw(json, value ? "true" : "false");
}

void sp_json_null(sp_json *json) {
  sp_json_raw(json, "null");
}

void sp_json_raw(sp_json *json, const char *text) {
  json_before(json);
  sp_buffer_text(json->out, text);
}

void sp_json_base64(sp_json *json, const void *bytes, size_t size) {
  json_before(json);
  sp_buffer_append(json->out, "\"", 1);
  sp_buffer_base64(json->out, bytes, size);
  sp_buffer_append(json->out, "\"", 1);
}

void sp_json_member_text(sp_json *json, const char *name, const char *text) {
  sp_json_key(json, name);
  sp_json_text(json, text);
}

void sp_json_member_int(sp_json *json, const char *name, int64_t number) {
  sp_json_key(json, name);
  sp_json_int(json, number);
}

void sp_json_member_open(sp_json *json, const char *name, char bracket) {
  sp_json_key(json, name);
  sp_json_open(json, bracket);
}
