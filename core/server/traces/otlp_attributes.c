#include "otlp_attributes.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "server/receive/otlp/otlp_tables.h"
#include "util/text/utf8.h"

/* Number.MAX_SAFE_INTEGER: https://tc39.es/ecma262/ */
#define TRACE_NUMBER_MAX ((INT64_C(1) << 53) - 1)

/* Fields of AnyValue: opentelemetry/proto/common/v1/common.proto. */
enum {
  TRACE_VALUE_TEXT = 1,
  TRACE_VALUE_BOOL = 2,
  TRACE_VALUE_INT = 3,
  TRACE_VALUE_DOUBLE = 4,
  TRACE_VALUE_ARRAY = 5,
  TRACE_VALUE_MAP = 6,
  TRACE_VALUE_BYTES = 7
};

/* Copy a text. Invalid UTF-8 and NULs, which many JSON parsers reject, are
 * replaced. Returns NULL if memory runs out. */
static json_t *trace_text(sp_view text) {
  json_t *string;
  bool changed;
  char *clean;

  if (sp_utf8_valid(text.bytes, text.size) &&
      (!text.size || !memchr(text.bytes, '\0', text.size)))
    return json_stringn_nocheck(text.bytes, text.size);
  clean = malloc(text.size);
  if (!clean)
    return NULL;
  string = json_stringn_nocheck(
      clean, sp_utf8_clean(text.bytes, text.size, clean, text.size, &changed));
  free(clean);
  return string;
}

static json_t *trace_hex(sp_view bytes) {
  static const char digits[] = "0123456789abcdef";
  char *text = malloc(2 * bytes.size + 1);
  json_t *string;
  size_t i;

  if (!text)
    return NULL;
  for (i = 0; i < bytes.size; i++) {
    text[2 * i] = digits[(uint8_t)bytes.bytes[i] >> 4];
    text[2 * i + 1] = digits[(uint8_t)bytes.bytes[i] & 15];
  }
  string = json_stringn_nocheck(text, 2 * bytes.size);
  free(text);
  return string;
}

/* Convert an integer. Large numbers become texts, because JavaScript would
 * round them. (In OTLP/JSON, all integers are texts.) */
static json_t *trace_int(int64_t value) {
  char text[24];

  if (value >= -TRACE_NUMBER_MAX && value <= TRACE_NUMBER_MAX)
    return json_integer(value);
  snprintf(text, sizeof text, "%" PRId64, value);
  return json_string(text);
}

static json_t *trace_value(sp_view message, uint32_t depth);

/* Convert an ArrayValue or a KeyValueList, whose field 1 has the items or the
 * pairs. */
static json_t *trace_inner(sp_view message, bool is_map, uint32_t depth) {
  json_t *out = is_map ? json_object() : json_array();
  sp_wire wire = sp_wire_of(message);
  sp_wire_field field;
  sp_view key, value;
  json_t *name;

  while (out && sp_wire_next(&wire, &field)) {
    if (field.number != 1 || field.type != SP_WIRE_BYTES)
      continue;
    if (!is_map) {
      json_array_append_new(out, trace_value(field.bytes, depth + 1));
      continue;
    }
    name =
        sp_otlp_key_value(field.bytes, &key, &value) ? trace_text(key) : NULL;
    if (name)
      json_object_setn_new_nocheck(out, json_string_value(name),
                                   json_string_length(name),
                                   trace_value(value, depth + 1));
    json_decref(name);
  }
  return out;
}

/* Convert an AnyValue. Returns NULL for a malformed value, which is omitted. A
 * value that is too deep becomes null. */
static json_t *trace_value(sp_view message, uint32_t depth) {
  sp_wire wire = sp_wire_of(message);
  sp_wire_field field, last = {.number = 0};
  double real;

  if (depth > SP_OTLP_ATTRIBUTE_DEPTH_MAX)
    return json_null();
  while (sp_wire_next(&wire, &field))
    last = field;
  if (wire.fault)
    return NULL;
  if (last.type == SP_WIRE_BYTES) {
    switch (last.number) {
    case TRACE_VALUE_TEXT:
      return trace_text(last.bytes);
    case TRACE_VALUE_ARRAY:
    case TRACE_VALUE_MAP:
      return trace_inner(last.bytes, last.number == TRACE_VALUE_MAP, depth);
    case TRACE_VALUE_BYTES:
      return trace_hex(last.bytes);
    }
  } else if (last.number == TRACE_VALUE_BOOL) {
    return json_boolean(last.value);
  } else if (last.number == TRACE_VALUE_INT) {
    return trace_int((int64_t)last.value);
  } else if (last.number == TRACE_VALUE_DOUBLE) {
    memcpy(&real, &last.value, sizeof real);
    return isfinite(real) ? json_real(real) : json_null();
  }
  return json_null();
}

/* Append the object as text, with the text of the resource inserted as its
 * member "resource". The resource is encoded only once for all its spans. */
static void trace_splice(json_t *object, const char *resource, sp_buffer *out) {
  char *text;

  if (resource)
    json_object_del(object, "resource");
  text = json_dumps(object, JSON_COMPACT);
  if (!text) {
    out->failed = true;
    return;
  }
  if (resource) {
    sp_buffer_append(out, text, strlen(text) - 1);
    sp_buffer_text(out, json_object_size(object) ? "," : "");
    sp_buffer_text(out, "\"resource\":");
    sp_buffer_text(out, resource);
    sp_buffer_text(out, "}");
  } else {
    sp_buffer_text(out, text);
  }
  free(text);
}

spanprof_status sp_otlp_attributes(sp_view owner, uint32_t number,
                                   const char *resource, sp_buffer *out,
                                   sp_refusal *refusal) {
  sp_wire wire = sp_wire_of(owner);
  json_t *object = json_object(), *name;
  sp_wire_field field;
  sp_view key, value;

  while (object && sp_wire_next(&wire, &field)) {
    if (field.number != number || field.type != SP_WIRE_BYTES)
      continue;
    name =
        sp_otlp_key_value(field.bytes, &key, &value) ? trace_text(key) : NULL;
    if (name)
      json_object_setn_new_nocheck(object, json_string_value(name),
                                   json_string_length(name),
                                   trace_value(value, 0));
    json_decref(name);
  }
  if (object && !wire.fault)
    trace_splice(object, resource, out);
  json_decref(object);
  if (!object)
    return SPANPROF_ERR_NOMEM;
  return wire.fault ? sp_wire_status(&wire, "KeyValue", refusal)
                    : sp_buffer_status(out);
}

sp_view sp_otlp_attribute_text(sp_view owner, uint32_t number,
                               const char *key) {
  sp_wire wire = sp_wire_of(owner);
  sp_wire_field field, text;
  sp_view name, value;
  sp_wire inner;

  while (sp_wire_next(&wire, &field)) {
    if (field.number != number || field.type != SP_WIRE_BYTES ||
        !sp_otlp_key_value(field.bytes, &name, &value) ||
        !sp_view_is(name, key))
      continue;
    inner = sp_wire_of(value);
    if (sp_wire_next(&inner, &text) && text.number == TRACE_VALUE_TEXT &&
        text.type == SP_WIRE_BYTES)
      return text.bytes;
  }
  return sp_view_of("", 0);
}
