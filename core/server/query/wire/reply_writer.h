/* Writes the message of a response as protobuf or as proto3 JSON, as the client
 * requested. Fields that are zero, empty or false are left out. */
#ifndef SP_REPLY_WRITER_H
#define SP_REPLY_WRITER_H

#include "json_writer.h"

#define SP_REPLY_DEPTH_MAX 12

typedef struct sp_reply {
  sp_buffer *out;
  bool is_json;
  sp_json json;
  uint32_t depth;
  size_t starts[SP_REPLY_DEPTH_MAX]; /* where the bytes of each open message
                                        begin */
} sp_reply;

/* Begin the message of a response. sp_reply_end() ends it. */
void sp_reply_begin(sp_reply *reply, sp_buffer *out, bool is_json);
void sp_reply_end(sp_reply *reply);

void sp_reply_text(sp_reply *reply, uint32_t field, const char *name,
                   const char *text);
void sp_reply_bytes(sp_reply *reply, uint32_t field, const char *name,
                    const void *bytes, size_t size);
void sp_reply_int(sp_reply *reply, uint32_t field, const char *name,
                  int64_t number);
void sp_reply_double(sp_reply *reply, uint32_t field, const char *name,
                     double number);
void sp_reply_bool(sp_reply *reply, uint32_t field, const char *name,
                   bool value);

/* Write a nested message from sp_reply_open() to sp_reply_close(), or a list of
 * messages from sp_reply_list() to sp_reply_list_end(). Each message of a list
 * is written from sp_reply_item() to sp_reply_close(). */
void sp_reply_open(sp_reply *reply, uint32_t field, const char *name);
void sp_reply_close(sp_reply *reply);
void sp_reply_list(sp_reply *reply, const char *name);
void sp_reply_item(sp_reply *reply, uint32_t field);
void sp_reply_list_end(sp_reply *reply);

void sp_reply_texts(sp_reply *reply, uint32_t field, const char *name,
                    const char *const *texts, size_t count);
void sp_reply_ints(sp_reply *reply, uint32_t field, const char *name,
                   const int64_t *numbers, size_t count);
void sp_reply_int32s(sp_reply *reply, uint32_t field, const char *name,
                     const int32_t *numbers, size_t count);
void sp_reply_doubles(sp_reply *reply, uint32_t field, const char *name,
                      const double *numbers, size_t count);

#endif
