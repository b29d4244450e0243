#include "reply_writer.h"

#include <assert.h>
#include <string.h>

#include "profile/pprof/varint.h"

/* Wire types: https://protobuf.dev/programming-guides/encoding/. */
enum { REPLY_VARINT = 0, REPLY_FIXED64 = 1, REPLY_LENGTH = 2 };

void sp_reply_begin(sp_reply *reply, sp_buffer *out, bool is_json) {
  *reply = (sp_reply){.out = out, .is_json = is_json, .json = sp_json_of(out)};
  if (is_json)
    sp_json_open(&reply->json, '{');
}

void sp_reply_end(sp_reply *reply) {
  assert(reply->depth == 0);
  if (reply->is_json)
    sp_json_close(&reply->json, '}');
}

static void reply_tag(sp_reply *reply, uint32_t field, uint32_t type) {
  sp_varint_append(reply->out, (uint64_t)field << 3 | type);
}

static void reply_run(sp_reply *reply, uint32_t field, const void *bytes,
                      size_t size) {
  reply_tag(reply, field, REPLY_LENGTH);
  sp_varint_append(reply->out, size);
  sp_buffer_append(reply->out, bytes, size);
}

void sp_reply_text(sp_reply *reply, uint32_t field, const char *name,
                   const char *text) {
  if (!*text)
    return;
  if (reply->is_json)
    sp_json_member_text(&reply->json, name, text);
  else
    reply_run(reply, field, text, strlen(text));
}

void sp_reply_bytes(sp_reply *reply, uint32_t field, const char *name,
                    const void *bytes, size_t size) {
  if (size == 0)
    return;
  if (!reply->is_json) {
    reply_run(reply, field, bytes, size);
    return;
  }
  sp_json_key(&reply->json, name);
  sp_json_base64(&reply->json, bytes, size);
}

void sp_reply_int(sp_reply *reply, uint32_t field, const char *name,
                  int64_t number) {
  if (number == 0)
    return;
  if (reply->is_json) {
    sp_json_key(&reply->json, name);
    sp_json_int_text(&reply->json, number);
    return;
  }
  reply_tag(reply, field, REPLY_VARINT);
  sp_varint_append(reply->out, (uint64_t)number);
}

static void reply_fixed64(sp_buffer *out, double number) {
  sp_buffer_append(out, &number, sizeof number);
}

void sp_reply_double(sp_reply *reply, uint32_t field, const char *name,
                     double number) {
  if (number == 0)
    return;
  if (reply->is_json) {
    sp_json_key(&reply->json, name);
    sp_json_double(&reply->json, number);
    return;
  }
  reply_tag(reply, field, REPLY_FIXED64);
  reply_fixed64(reply->out, number);
}

void sp_reply_bool(sp_reply *reply, uint32_t field, const char *name,
                   bool value) {
  if (!value)
    return;
  if (reply->is_json) {
    sp_json_key(&reply->json, name);
    sp_json_bool(&reply->json, true);
    return;
  }
  reply_tag(reply, field, REPLY_VARINT);
  sp_varint_append(reply->out, 1);
}

/* Begin a nested message. In protobuf, its size precedes it. sp_reply_close()
 * inserts the size when it is known. */
static void reply_push(sp_reply *reply, uint32_t field) {
  assert(reply->depth < SP_REPLY_DEPTH_MAX);
  if (!reply->is_json) {
    reply_tag(reply, field, REPLY_LENGTH);
    reply->starts[reply->depth] = reply->out->size;
  }
  reply->depth++;
}

void sp_reply_open(sp_reply *reply, uint32_t field, const char *name) {
  if (reply->is_json)
    sp_json_member_open(&reply->json, name, '{');
  reply_push(reply, field);
}

void sp_reply_item(sp_reply *reply, uint32_t field) {
  if (reply->is_json)
    sp_json_open(&reply->json, '{');
  reply_push(reply, field);
}

void sp_reply_close(sp_reply *reply) {
  uint8_t bytes[SP_VARINT_BYTES_MAX];
  size_t start, size, count;

  reply->depth--;
  if (reply->is_json) {
    sp_json_close(&reply->json, '}');
    return;
  }
  start = reply->starts[reply->depth];
  size = reply->out->size - start;
  count = (size_t)(sp_varint_put(bytes, size) - bytes);
  sp_buffer_append(reply->out, bytes, count);
  if (reply->out->failed)
    return;
  memmove(reply->out->data + start + count, reply->out->data + start, size);
  memcpy(reply->out->data + start, bytes, count);
}

void sp_reply_list(sp_reply *reply, const char *name) {
  if (reply->is_json)
    sp_json_member_open(&reply->json, name, '[');
}

void sp_reply_list_end(sp_reply *reply) {
  if (reply->is_json)
    sp_json_close(&reply->json, ']');
}

void sp_reply_texts(sp_reply *reply, uint32_t field, const char *name,
                    const char *const *texts, size_t count) {
  size_t i;

  if (count == 0)
    return;
  sp_reply_list(reply, name);
  for (i = 0; i < count; i++) {
    if (reply->is_json)
      sp_json_text(&reply->json, texts[i]);
    else
      reply_run(reply, field, texts[i], strlen(texts[i]));
  }
  sp_reply_list_end(reply);
}

/* Lists of numbers are packed: one field has all numbers of a list. */
void sp_reply_ints(sp_reply *reply, uint32_t field, const char *name,
                   const int64_t *numbers, size_t count) {
  size_t i;

  if (count == 0)
    return;
  if (!reply->is_json) {
    reply_push(reply, field);
    for (i = 0; i < count; i++)
      sp_varint_append(reply->out, (uint64_t)numbers[i]);
    sp_reply_close(reply);
    return;
  }
  sp_reply_list(reply, name);
  for (i = 0; i < count; i++)
    sp_json_int_text(&reply->json, numbers[i]);
  sp_reply_list_end(reply);
}

void sp_reply_int32s(sp_reply *reply, uint32_t field, const char *name,
                     const int32_t *numbers, size_t count) {
  size_t i;

  if (count == 0)
    return;
  if (!reply->is_json) {
    reply_push(reply, field);
    for (i = 0; i < count; i++)
      sp_varint_append(reply->out, (uint64_t)(int64_t)numbers[i]);
    sp_reply_close(reply);
    return;
  }
  sp_reply_list(reply, name);
  for (i = 0; i < count; i++)
    sp_json_int(&reply->json, numbers[i]);
  sp_reply_list_end(reply);
}

void sp_reply_doubles(sp_reply *reply, uint32_t field, const char *name,
                      const double *numbers, size_t count) {
  size_t i;

  if (count == 0)
    return;
  if (!reply->is_json) {
    reply_push(reply, field);
    for (i = 0; i < count; i++)
      reply_fixed64(reply->out, numbers[i]);
    sp_reply_close(reply);
    return;
  }
  sp_reply_list(reply, name);
  for (i = 0; i < count; i++)
    sp_json_double(&reply->json, numbers[i]);
  sp_reply_list_end(reply);
}
