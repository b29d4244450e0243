#include "json_writer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
  size_t i, plain = 0;

  json_before(json);
  sp_buffer_append(json->out, "\"", 1);
  for (i = 0; i < bytes; i++) {
    const unsigned char c = (unsigned char)text[i];

    if (c >= ' ' && c != '"' && c != '\\' && c != 0x7f)
      continue;
    sp_buffer_append(json->out, text + plain, i - plain);
    plain = i + 1;
    if (c == '"' || c == '\\')
      sp_buffer_format(json->out, "\\%c", c);
    else if (c == '\n')
      sp_buffer_text(json->out, "\\n");
    else
      sp_buffer_format(json->out, "\\u%04x", c);
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
    sp_buffer_text(json->out, "null"); /* JSON has no other word for it */
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
  static const char digits[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const unsigned char *p = bytes;
  size_t i, j;

  json_before(json);
  sp_buffer_append(json->out, "\"", 1);
  for (i = 0; i < size; i += 3) {
    const size_t left = size - i < 3 ? size - i : 3;
    uint32_t bits = 0;
    char text[4];

    for (j = 0; j < 3; j++)
      bits = bits << 8 | (j < left ? p[i + j] : 0u);
    for (j = 0; j < 4; j++)
      text[j] = j <= left ? digits[bits >> (18 - 6 * j) & 63] : '=';
    sp_buffer_append(json->out, text, 4);
  }
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
