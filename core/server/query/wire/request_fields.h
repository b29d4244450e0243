/* The fields of request messages: numbers, names, kinds and offsets. */
#ifndef SP_REQUEST_FIELDS_H
#define SP_REQUEST_FIELDS_H

#include "server/receive/wire/json_wire.h"

/* A type of request. The offsets in `fields` are those of members of
 * sp_query_request. A repeated message has only a field `name`, and its member
 * is an sp_texts. The member of any other nested message is a bool, which is
 * set if the message is present; its fields have members of their own in the
 * same struct. */
struct sp_message {
  const char *name;
  const sp_json_field *fields;
};

/* The fields of each side of a Diff. The member of a side is a pointer to
 * another sp_query_request. */
extern const sp_json_field sp_stacktraces_fields[];

#endif
