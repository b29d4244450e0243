/* Writes JSON into a buffer. */
#ifndef SP_JSON_WRITER_H
#define SP_JSON_WRITER_H

#include "util/memory/buffer.h"

typedef struct sp_json {
  sp_buffer *out;
  bool comma; /* a comma must be written before the next value */
} sp_json;

sp_json sp_json_of(sp_buffer *out);

void sp_json_open(sp_json *json, char bracket); /* '{' or '[' */
void sp_json_close(sp_json *json, char bracket);
void sp_json_key(sp_json *json, const char *name);

void sp_json_text(sp_json *json, const char *text);
void sp_json_text_bytes(sp_json *json, const char *text, size_t bytes);
void sp_json_int(sp_json *json, int64_t number);
void sp_json_int_text(sp_json *json,
                      int64_t number); /* as text ("7"), which all clients read
                                        * exactly */
void sp_json_double(sp_json *json, double number); /* in the shortest exact
                                                    * form */
void sp_json_bool(sp_json *json, bool value);
void sp_json_null(sp_json *json);
void sp_json_base64(sp_json *json, const void *bytes, size_t size);
void sp_json_raw(sp_json *json, const char *text); /* JSON text of the value */

/* Write a key and its value. */
void sp_json_member_text(sp_json *json, const char *name, const char *text);
void sp_json_member_int(sp_json *json, const char *name, int64_t number);
void sp_json_member_open(sp_json *json, const char *name, char bracket);

#endif
