#include "json_wire.h"

#include <ctype.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>

#include "server/model/base64.h"
#include "util/text/hex.h"
#include "util/text/number.h"

/* Memory that jansson 2.14 needs for a number or text and the name of its
 * member, and for a list or object without its contents. */
#define JSON_VALUE_BYTES  ((size_t)96)
#define JSON_OBJECT_BYTES ((size_t)208)

typedef struct json_writer {
  const sp_json_rules *rules;
  sp_refusal *refusal;
  const sp_mem *mem;
} json_writer;

static spanprof_status json_refuse(json_writer *writer,
                                   const sp_json_field *field) {
  return sp_refuse(writer->refusal, SP_REFUSAL_BROKEN,
                   "proto: invalid value for field %s", field->name);
}

spanprof_status sp_json_bounded(sp_view text, const sp_mem *mem,
                                void **placeholder, sp_refusal *refusal) {
  size_t values = 0, objects = 0, i;
  bool in_text = false;

  *placeholder = NULL;
  if (text.size > SP_JSON_BYTES_MAX)
    return sp_refuse(refusal, SP_REFUSAL_LARGE,
                     "message size %zu is larger than configured max %zu",
                     text.size, SP_JSON_BYTES_MAX);
  for (i = 0; i < text.size; i++) {
    const char c = text.bytes[i];

    if (in_text && c == '\\')
      i++;
    else if (c == '"')
      in_text = !in_text;
    else if (!in_text) {
      values += c == ',' || c == '[' || c == '{';
      objects += c == '[' || c == '{';
    }
  }
  if (values > SP_JSON_VALUES_MAX)
    return sp_refuse(refusal, SP_REFUSAL_LARGE,
                     "the JSON text has more than %zu values",
                     SP_JSON_VALUES_MAX);
  *placeholder = sp_mem_new(mem, text.size + values * JSON_VALUE_BYTES +
                                     objects * JSON_OBJECT_BYTES);
  return *placeholder ? SPANPROF_OK : SPANPROF_ERR_NOMEM;
}

static bool json_base64(sp_view text, sp_buffer *out) {
  while (text.size && text.bytes[text.size - 1] == '=')
    text.size--;
  return text.size % 4 != 1 &&
         (!sp_buffer_reserve(out, SP_BASE64_CAPACITY(text.size)) ||
          sp_base64_read(text.bytes, text.size, SP_BASE64_EITHER, out->data,
                         &out->size) == text.size);
}

static bool json_hex(sp_view text, sp_buffer *out) {
  size_t i;

  if (text.size % 2)
    return false;
  for (i = 0; i < text.size; i += 2) {
    uint64_t byte;

    if (!sp_hex_read(text.bytes + i, 2, &byte))
      return false;
    sp_buffer_append(out, &(char){(char)byte}, 1);
  }
  return true;
}

static spanprof_status json_put_text(json_writer *writer,
                                     const sp_json_field *field,
                                     const json_t *value, sp_buffer *out) {
  sp_view text;
  sp_buffer bytes;
  bool sound;

  if (!json_is_string(value))
    return json_refuse(writer, field);
  text = sp_view_of(json_string_value(value), json_string_length(value));
  if (field->kind == SP_JSON_TEXT) {
    sp_wire_put_bytes(out, field->number, text.bytes, text.size);
    return SPANPROF_OK;
  }
  sp_buffer_init(&bytes, writer->mem);
  sound = field->kind == SP_JSON_HEX ? json_hex(text, &bytes)
                                     : json_base64(text, &bytes);
  sp_wire_put_bytes(out, field->number, bytes.data, bytes.size);
  out->failed |= bytes.failed;
  sp_buffer_dispose(&bytes);
  return sound ? SPANPROF_OK : json_refuse(writer, field);
}

/* Get an integer of 64 bits, signed or unsigned. */
static bool json_whole(const json_t *value, uint64_t *out) {
  const char *text = json_string_value(value);
  int64_t negative;

  if (json_is_integer(value)) {
    *out = (uint64_t)json_integer_value(value);
    return true;
  }
  if (json_is_real(value)) {
    const double real = json_real_value(value);

    *out = (uint64_t)(int64_t)(fabs(real) < 9e15 ? real : 0);
    return fabs(real) < 9e15 && real == floor(real);
  }
  if (!text || *text == '+' || strlen(text) != json_string_length(value))
    return false;
  if (*text != '-')
    return sp_number_is(text, UINT64_MAX, out);
  if (sp_number_signed(text, text + strlen(text), &negative))
    return false;
  *out = (uint64_t)negative;
  return true;
}

/* Returns whether `given` is the field's name in JSON or that in the .proto
 * file, which has "_t" instead of "T": "profile_typeID" for "profileTypeID". */
static bool json_is_name(const char *name, const char *given) {
  for (; *name && *given; name++, given++)
    if (*name != *given &&
        (*given != '_' || *name != toupper((unsigned char)*++given)))
      return false;
  return *name == *given;
}

static const sp_json_field *json_find(const sp_json_field *fields,
                                      const char *name) {
  for (; fields->kind != SP_JSON_END; fields++)
    if (json_is_name(fields->name, name))
      return fields;
  return NULL;
}

/* Find the row of an enum's value by its name, such as "SPAN_KIND_SERVER". */
static const sp_json_field *json_named(const sp_json_field *field,
                                       const json_t *value) {
  return field->kind == SP_JSON_NUMBER && field->message &&
                 json_is_string(value)
             ? json_find(field->message, json_string_value(value))
             : NULL;
}

/* Get a floating-point number, which may be a text. */
static bool json_floating(const json_t *value, uint64_t *bits) {
  const char *text = json_string_value(value);
  double real = json_number_value(value);
  char *end = NULL;

  if (text)
    real = strtod(text, &end);
  memcpy(bits, &real, sizeof *bits);
  return text ? *text && *end == '\0' : json_is_number(value);
}

static spanprof_status json_put_number(json_writer *writer,
                                       const sp_json_field *field,
                                       const json_t *value, sp_buffer *out) {
  const sp_json_field *named = json_named(field, value);
  uint64_t number = 0;
  bool sound = true;

  if (named)
    number = named->number;
  else if (field->kind == SP_JSON_BOOL)
    sound = json_is_boolean(value), number = json_is_true(value);
  else if (field->kind == SP_JSON_DOUBLE)
    sound = json_floating(value, &number);
  else
    sound = json_whole(value, &number);
  if (!sound && field->message && json_is_string(value) &&
      !writer->rules->refuse_unknown)
    return SPANPROF_OK;
  if (!sound)
    return json_refuse(writer, field);
  if (field->kind == SP_JSON_NUMBER || field->kind == SP_JSON_BOOL) {
    sp_wire_put_tag(out, field->number, SP_WIRE_NUMBER);
    sp_varint_append(out, number);
  } else if (field->kind == SP_JSON_FIXED32) {
    sp_wire_put_tag(out, field->number, SP_WIRE_FIXED32);
    sp_buffer_append(out, &(uint32_t){(uint32_t)number}, 4);
  } else {
    sp_wire_put_tag(out, field->number, SP_WIRE_FIXED64);
    sp_buffer_append(out, &number, sizeof number);
  }
  return SPANPROF_OK;
}

static spanprof_status json_put_message(json_writer *writer,
                                        const json_t *object,
                                        const sp_json_field *fields,
                                        uint32_t depth, sp_buffer *out);

static spanprof_status json_put_value(json_writer *writer,
                                      const sp_json_field *field,
                                      const json_t *value, uint32_t depth,
                                      sp_buffer *out) {
  spanprof_status st;
  sp_buffer inner;

  switch (field->kind) {
  case SP_JSON_TEXT:
  case SP_JSON_BASE64:
  case SP_JSON_HEX:
    return json_put_text(writer, field, value, out);
  case SP_JSON_MESSAGE:
    sp_buffer_init(&inner, writer->mem);
    st = json_put_message(writer, value, field->message, depth + 1, &inner);
    sp_wire_put_bytes(out, field->number, inner.data, inner.size);
    out->failed |= inner.failed;
    sp_buffer_dispose(&inner);
    return st;
  default:
    return json_put_number(writer, field, value, out);
  }
}

/* Write a message. Calls itself for nested messages; the parser limits their
 * depth. */
static spanprof_status json_put_message(json_writer *writer,
                                        const json_t *object,
                                        const sp_json_field *fields,
                                        uint32_t depth, sp_buffer *out) {
  spanprof_status st = SPANPROF_OK;
  const char *name;
  json_t *value, *item;
  size_t i;

  if (!json_is_object(object) || depth > SP_JSON_DEPTH_MAX)
    return sp_refuse(writer->refusal, SP_REFUSAL_BROKEN,
                     "proto: syntax error: an object was expected");
  json_object_foreach((json_t *)(uintptr_t)object, name, value) {
    const sp_json_field *field = json_find(fields, name);

    if (!field && writer->rules->refuse_unknown)
      return sp_refuse(writer->refusal, SP_REFUSAL_BROKEN,
                       "proto: unknown field \"%s\"", name);
    if (!field || json_is_null(value))
      continue;
    if (!field->repeated) {
      st = json_put_value(writer, field, value, depth, out);
    } else if (!json_is_array(value)) {
      st = json_refuse(writer, field);
    } else {
      json_array_foreach(value, i, item) {
        st = json_put_value(writer, field, item, depth, out);
        if (st)
          break;
      }
    }
    if (st)
      return st;
  }
  return sp_buffer_status(out);
}

spanprof_status sp_json_wire(sp_view text, const sp_json_field *message,
                             const sp_json_rules *rules, sp_buffer *out,
                             sp_refusal *refusal) {
  json_writer writer = {rules, refusal, out->mem};
  json_error_t error;
  json_t *root;
  void *placeholder;
  spanprof_status st = sp_json_bounded(text, out->mem, &placeholder, refusal);

  if (st)
    return st;
  root = json_loadb(text.bytes ? text.bytes : "", text.size,
                    JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &error);
  if (!root)
    st = sp_refuse(refusal, SP_REFUSAL_BROKEN,
                   "proto: syntax error (line %d:%d): %s", error.line,
                   error.column, error.text);
  else
    st = json_put_message(&writer, root, message, 0, out);
  json_decref(root);
  sp_mem_free(out->mem, placeholder);
  return st;
}
