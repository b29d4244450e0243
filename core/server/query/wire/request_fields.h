/* The fields of request messages: numbers, names, kinds and offsets. */
#ifndef SP_REQUEST_FIELDS_H
#define SP_REQUEST_FIELDS_H

#include "server/receive/wire/json_wire.h"

/* The offsets are those of sp_query_request's members. A repeated message has
 * only a field `name`, and its member is an sp_texts. The member of any other
 * message is a bool for its presence, and its fields have members of their own.
 */
struct sp_message {
  const char *name;
  const sp_json_field *fields;
};

/* The fields of each side of a Diff, whose member is a pointer to another
 * request. */
extern const sp_json_field sp_stacktraces_fields[];

#endif
