/* Fields of request messages: their numbers, names, kinds and places. */
#ifndef SP_REQUEST_FIELDS_H
#define SP_REQUEST_FIELDS_H

#include "query_request.h"

typedef enum sp_field_kind {
  SP_FIELD_INT,
  SP_FIELD_ENUM, /* an int64_t; `names` are its values */
  SP_FIELD_BOOL, /* an int64_t */
  SP_FIELD_DOUBLE,
  SP_FIELD_TEXT,
  SP_FIELD_TEXTS,
  SP_FIELD_INSIDE,  /* a message whose fields are the request's own; its place
                     * says that it is there */
  SP_FIELD_REQUEST, /* a message that is a request of its own */
  SP_FIELD_NAMED,   /* messages with a `name` each: a list of texts */
} sp_field_kind;

typedef struct sp_request_field {
  uint32_t number;
  sp_field_kind kind;
  const char *name;         /* of JSON; with underscores and in any case, too */
  size_t place;             /* offset in sp_query_request */
  const char *const *names; /* of an enum, NULL behind the last */
  const sp_message *message;
} sp_request_field;

struct sp_message {
  const char *name;
  const sp_request_field *fields;
  size_t count;
};

#endif
