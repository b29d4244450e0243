/* Fields of request messages: their numbers, names, kinds and places. */
#ifndef SP_REQUEST_FIELDS_H
#define SP_REQUEST_FIELDS_H

#include "server/receive/wire/json_wire.h"

/* The places are offsets in sp_query_request. A repeated message has one field,
 * its name, and its place is an sp_texts. The place of another message is a
 * bool that says whether it was given, and its fields have places of their own.
 */
struct sp_message {
  const char *name;
  const sp_json_field *fields;
};

/* Of each side of a Diff. The place of such a message is a pointer to a request
 * of its own. */
extern const sp_json_field sp_stacktraces_fields[];

#endif
