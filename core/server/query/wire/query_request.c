#include "query_request.h"

#include <string.h>

#include "profile/pprof/wire.h"
#include "request_fields.h"
#include "server/query/selector/matcher_list.h"
#include "util/text/utf8.h"

#define REQUEST_TEXTS_MAX 65536 /* largest number of items in a list */

spanprof_status sp_texts_add(sp_texts *texts, sp_arena *arena, const char *text,
                             size_t bytes) {
  const char *copy = sp_arena_text(arena, text, bytes);

  if (!copy)
    return arena->st;
  if (texts->count == REQUEST_TEXTS_MAX)
    return SPANPROF_ERR_LIMIT;
  if (texts->count == texts->capacity) {
    const size_t capacity = texts->capacity ? texts->capacity * 2 : 8;
    const char **grown = sp_arena_new(arena, capacity, sizeof *grown);

    if (!grown)
      return arena->st;
    if (texts->count)
      memcpy(grown, texts->texts, texts->count * sizeof *grown);
    texts->texts = grown;
    texts->capacity = capacity;
  }
  texts->texts[texts->count++] = copy;
  return SPANPROF_OK;
}

/* A message that is being read. The body may contain nested messages. */
typedef struct proto_level {
  sp_message message;
  sp_wire fields;
  sp_query_request *out;
} proto_level;

static spanprof_status proto_refuse(const sp_message *message, const char *what,
                                    sp_query_fault *fault) {
  return sp_query_refuse(fault, SP_CODE_INVALID,
                         "unmarshal message: proto: %s: %s", message->name,
                         what);
}

static bool proto_is_text(const sp_wire_field *field) {
  return sp_utf8_valid(field->bytes.bytes, field->bytes.size) &&
         !memchr(field->bytes.bytes, '\0', field->bytes.size);
}

/* Add the `name` of a types.v1.Location to a list. */
static spanprof_status proto_named(sp_texts *out, sp_arena *arena,
                                   const sp_message *message,
                                   const sp_wire_field *field,
                                   sp_query_fault *fault) {
  sp_wire inside = sp_wire_of(field->bytes);
  sp_wire_field name, last = {0};

  while (sp_wire_next(&inside, &name))
    if (name.number == 1 && name.type == SP_WIRE_BYTES)
      last = name;
  if (inside.fault || (last.bytes.size && !proto_is_text(&last)))
    return proto_refuse(message, "cannot parse a call site", fault);
  return sp_texts_add(out, arena, last.bytes.size ? last.bytes.bytes : "",
                      last.bytes.size);
}

static spanprof_status proto_text(void *place, const sp_json_field *known,
                                  const sp_message *message, sp_arena *arena,
                                  const sp_wire_field *field,
                                  sp_query_fault *fault) {
  const char *text;

  if (known->kind == SP_JSON_MESSAGE)
    return proto_named(place, arena, message, field, fault);
  if (!proto_is_text(field))
    return proto_refuse(message, "a string field contains invalid UTF-8",
                        fault);
  if (known->repeated)
    return sp_texts_add(place, arena, field->bytes.bytes, field->bytes.size);
  text = sp_arena_text(arena, field->bytes.bytes, field->bytes.size);
  if (!text)
    return arena->st;
  *(const char **)place = text;
  return SPANPROF_OK;
}

static const sp_json_field *proto_find(const sp_json_field *fields,
                                       uint32_t number) {
  for (; fields->kind != SP_JSON_END; fields++)
    if (fields->number == number)
      return fields;
  return NULL;
}

/* Store one field of a message. If the field is a message, set *inner to it
 * instead. */
static spanprof_status proto_field(const proto_level *level, sp_arena *arena,
                                   const sp_wire_field *field,
                                   proto_level *inner, sp_query_fault *fault) {
  const sp_json_field *known = proto_find(level->message.fields, field->number);
  char *place = known ? (char *)level->out + known->place : NULL;
  sp_query_request **request = (sp_query_request **)(void *)place;

  if (!known)
    return SPANPROF_OK;
  if ((field->type == SP_WIRE_BYTES) !=
      (known->kind == SP_JSON_TEXT || known->kind == SP_JSON_MESSAGE))
    return proto_refuse(&level->message, "wrong wire type", fault);
  if (field->type != SP_WIRE_BYTES) {
    memcpy(place, &field->value, sizeof field->value);
    return SPANPROF_OK;
  }
  if (known->kind == SP_JSON_TEXT || known->repeated)
    return proto_text(place, known, &level->message, arena, field, fault);
  *inner = (proto_level){.message = {known->name, known->message},
                         .fields = sp_wire_of(field->bytes),
                         .out = level->out};
  if (known->message != sp_stacktraces_fields) {
    *(bool *)(void *)place = true;
    return SPANPROF_OK;
  }
  inner->out = *request ? *request : sp_arena_new(arena, 1, sizeof **request);
  *request = inner->out;
  return inner->out ? SPANPROF_OK : arena->st;
}

spanprof_status sp_query_request_proto(sp_query_request *out,
                                       const sp_message *message,
                                       sp_arena *arena, const void *bytes,
                                       size_t size, sp_query_fault *fault) {
  proto_level levels[4] = {{.message = *message,
                            .fields = sp_wire_of(sp_view_of(bytes, size)),
                            .out = out}};
  size_t depth = 0;
  sp_wire_field field;
  spanprof_status st;

  for (;;) {
    proto_level *level = &levels[depth], inner = {0};

    if (!sp_wire_next(&level->fields, &field)) {
      if (level->fields.fault)
        return proto_refuse(&level->message,
                            "cannot parse invalid wire-format "
                            "data",
                            fault);
      if (depth-- == 0)
        return SPANPROF_OK;
      continue;
    }
    st = proto_field(level, arena, &field, &inner, fault);
    if (st)
      return st;
    /* The array `levels` is large enough: the deepest message is goPgo, at
     * level 3, in the stack selector of one of a Diff's requests. */
    if (inner.message.fields)
      levels[++depth] = inner;
  }
}

spanprof_status sp_query_request_json(sp_query_request *out,
                                      const sp_message *message,
                                      sp_arena *arena, const char *text,
                                      size_t size, sp_query_fault *fault) {
  const sp_json_rules rules = {.refuse_unknown = false};
  sp_refusal refusal;
  sp_buffer wire;
  spanprof_status st;

  if (size == 0)
    return sp_query_refuse(fault, SP_CODE_INVALID,
                           "unmarshal message: zero-length payload is not a "
                           "valid JSON object");
  sp_refusal_init(&refusal, arena->mem);
  sp_buffer_init(&wire, arena->mem);
  st = sp_json_wire(sp_view_of(text, size), message->fields, &rules, &wire,
                    &refusal);
  if (refusal.kind)
    st = sp_query_refuse(fault, SP_CODE_INVALID, "unmarshal message: %s",
                         sp_refusal_text(&refusal));
  if (!st)
    st = sp_query_request_proto(out, message, arena, wire.data, wire.size,
                                fault);
  sp_buffer_dispose(&wire);
  sp_refusal_dispose(&refusal);
  return st;
}
