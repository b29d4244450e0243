/* Writes protobuf messages field by field, valid and invalid ones. */
#ifndef MESSAGE_H
#define MESSAGE_H

#include "check.h"
#include "profile/pprof/varint.h"
#include "util/text/view.h"
#include "util/memory/buffer.h"

typedef struct message {
  sp_buffer out;
} message;

static inline message message_new(void) {
  message m;

  sp_buffer_init(&m.out, &sp_mem_default);
  return m;
}

static inline void message_varint(message *m, uint64_t number) {
  sp_varint_append(&m->out, number);
}

static inline void message_number(message *m, uint32_t field, uint64_t number) {
  message_varint(m, (uint64_t)field << 3);
  message_varint(m, number);
}

static inline void message_fixed(message *m, uint32_t field, uint64_t number) {
  message_varint(m, (uint64_t)field << 3 | 1);
  sp_buffer_append(&m->out, &number, 8);
}

static inline void message_bytes(message *m, uint32_t field, const void *bytes,
                                 size_t size) {
  message_varint(m, (uint64_t)field << 3 | 2);
  message_varint(m, size);
  sp_buffer_append(&m->out, bytes, size);
}

static inline void message_text(message *m, uint32_t field, const char *text) {
  message_bytes(m, field, text, strlen(text));
}

/* Append the message `inner` as a field, and free `inner`. */
static inline void message_inner(message *m, uint32_t field, message inner) {
  message_bytes(m, field, inner.out.data, inner.out.size);
  sp_buffer_dispose(&inner.out);
}

static inline sp_view message_view(const message *m) {
  CHECK(!m->out.failed);
  return sp_view_of(m->out.data, m->out.size);
}

static inline void message_free(message *m) {
  sp_buffer_dispose(&m->out);
}

#endif
