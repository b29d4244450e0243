#include <ctype.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "query_request.h"
#include "request_fields.h"
#include "server/query/selector/matcher_list.h"
#include "util/text/number.h"

/* What jansson makes of a value takes some 40 bytes, where it took two. */
#define JSON_VALUES_MAX 1000000

/* "profile_typeID" and "profileTypeId" are the same name. */
static bool json_same_name(const char *one, const char *other) {
  for (;; one++, other++) {
    while (*one == '_')
      one++;
    while (*other == '_')
      other++;
    if (tolower((unsigned char)*one) != tolower((unsigned char)*other))
      return false;
    if (*one == '\0')
      return true;
  }
}

static spanprof_status json_refuse(const char *name, sp_query_fault *fault) {
  return sp_query_refuse(fault, SP_CODE_INVALID,
                         "unmarshal message: proto: invalid value for field %s",
                         name);
}

/* A whole number of 64 bits: as a number or as text. */
static bool json_int(const json_t *value, int64_t *out) {
  const char *text = json_string_value(value);
  double number;

  if (json_is_integer(value)) {
    *out = json_integer_value(value);
    return true;
  }
  if (json_is_real(value)) {
    number = json_real_value(value);
    *out = fabs(number) < 9e18 ? (int64_t)number : 0;
    return fabs(number) < 9e18 && number == floor(number);
  }
  return text && !sp_number_signed(text, text + strlen(text), out);
}

static bool json_double(const json_t *value, double *out) {
  const char *text = json_string_value(value);
  char *end;

  if (json_is_number(value)) {
    *out = json_number_value(value);
    return true;
  }
  if (!text || !*text)
    return false;
  *out = strtod(text, &end);
  return *end == '\0';
}

/* A name we do not know is skipped, as an unknown field is. */
static bool json_enum(const json_t *value, const char *const *names,
                      int64_t *out) {
  const char *text = json_string_value(value);
  int64_t i;

  if (json_is_integer(value)) {
    *out = json_integer_value(value);
    return true;
  }
  for (i = 0; text && names[i]; i++)
    if (strcmp(names[i], text) == 0)
      *out = i;
  return text != NULL;
}

static spanprof_status json_texts(sp_texts *out, const json_t *value,
                                  const sp_request_field *field,
                                  sp_arena *arena, sp_query_fault *fault) {
  const json_t *item;
  size_t i;
  spanprof_status st;

  if (!json_is_array(value))
    return json_refuse(field->name, fault);
  json_array_foreach(value, i, item) {
    if (field->kind == SP_FIELD_NAMED && json_is_object(item))
      item = json_object_get(item, "name");
    else if (field->kind == SP_FIELD_NAMED)
      item = NULL;
    if (!json_is_string(item))
      return json_refuse(field->name, fault);
    st = sp_texts_add(out, arena, json_string_value(item),
                      json_string_length(item));
    if (st)
      return st;
  }
  return SPANPROF_OK;
}

static spanprof_status json_value(char *place, const json_t *value,
                                  const sp_request_field *field,
                                  sp_arena *arena, sp_query_fault *fault) {
  bool good = false;
  const char *text;

  switch (field->kind) {
  case SP_FIELD_INT:
    good = json_int(value, (int64_t *)(void *)place);
    break;
  case SP_FIELD_ENUM:
    good = json_enum(value, field->names, (int64_t *)(void *)place);
    break;
  case SP_FIELD_BOOL:
    good = json_is_boolean(value);
    *(int64_t *)(void *)place = json_is_true(value);
    break;
  case SP_FIELD_DOUBLE:
    good = json_double(value, (double *)(void *)place);
    break;
  case SP_FIELD_TEXT:
    if (!json_is_string(value))
      break;
    text = sp_arena_text(arena, json_string_value(value),
                         json_string_length(value));
    if (!text)
      return arena->st;
    *(const char **)(void *)place = text;
    good = true;
    break;
  default:
    return json_texts((sp_texts *)(void *)place, value, field, arena, fault);
  }
  return good ? SPANPROF_OK : json_refuse(field->name, fault);
}

/* One object of the body, half read; see proto_level. */
typedef struct json_level {
  json_t *object;
  void *at;
  const sp_message *message;
  sp_query_request *out;
} json_level;

static spanprof_status json_member(const json_level *level, const char *name,
                                   json_t *value, sp_arena *arena,
                                   json_level *inner, sp_query_fault *fault) {
  const sp_request_field *field = NULL;
  sp_query_request **request;
  char *place;
  size_t i;

  for (i = 0; i < level->message->count && !field; i++)
    if (json_same_name(level->message->fields[i].name, name))
      field = &level->message->fields[i];
  if (!field || json_is_null(value))
    return SPANPROF_OK;
  place = (char *)level->out + field->place;
  if (field->kind != SP_FIELD_INSIDE && field->kind != SP_FIELD_REQUEST)
    return json_value(place, value, field, arena, fault);
  if (!json_is_object(value))
    return json_refuse(field->name, fault);
  *inner = (json_level){.object = value,
                        .at = json_object_iter(value),
                        .message = field->message,
                        .out = level->out};
  if (field->kind == SP_FIELD_INSIDE) {
    *(bool *)(void *)place = true;
    return SPANPROF_OK;
  }
  request = (sp_query_request **)(void *)place;
  inner->out = *request ? *request : sp_arena_new(arena, 1, sizeof **request);
  *request = inner->out;
  return inner->out ? SPANPROF_OK : arena->st;
}

static spanprof_status json_walk(sp_query_request *out,
                                 const sp_message *message, json_t *root,
                                 sp_arena *arena, sp_query_fault *fault) {
  json_level levels[4] = {{root, json_object_iter(root), message, out}};
  size_t depth = 0;
  spanprof_status st;

  for (;;) {
    json_level *level = &levels[depth], inner = {0};
    const char *name;
    json_t *value;

    if (!level->at) {
      if (depth-- == 0)
        return SPANPROF_OK;
      continue;
    }
    name = json_object_iter_key(level->at);
    value = json_object_iter_value(level->at);
    level->at = json_object_iter_next(level->object, level->at);
    st = json_member(level, name, value, arena, &inner, fault);
    if (st)
      return st;
    if (inner.message)
      levels[++depth] = inner;
  }
}

/* About how many values a text has, those in strings counted along. */
static size_t json_values(const char *text, size_t size) {
  size_t i, count = 0;

  for (i = 0; i < size; i++)
    count += text[i] == ',' || text[i] == '[' || text[i] == '{';
  return count;
}

spanprof_status sp_query_request_json(sp_query_request *out,
                                      const sp_message *message,
                                      sp_arena *arena, const char *text,
                                      size_t size, sp_query_fault *fault) {
  json_error_t error;
  json_t *root;
  spanprof_status st;

  if (size == 0)
    return sp_query_refuse(fault, SP_CODE_INVALID,
                           "unmarshal message: zero-length payload is not a "
                           "valid JSON object");
  if (json_values(text, size) > JSON_VALUES_MAX)
    return sp_query_refuse(fault, SP_CODE_INVALID,
                           "unmarshal message: more than %d values",
                           JSON_VALUES_MAX);
  root = json_loadb(text, size, 0, &error);
  if (!root)
    return sp_query_refuse(fault, SP_CODE_INVALID,
                           "unmarshal message: proto: syntax error (line "
                           "%d:%d): %s",
                           error.line, error.column, error.text);
  if (json_is_object(root))
    st = json_walk(out, message, root, arena, fault);
  else
    st =
        sp_query_refuse(fault, SP_CODE_INVALID,
                        "unmarshal message: proto: the body is no JSON object");
  json_decref(root);
  return st;
}
