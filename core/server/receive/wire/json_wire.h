/* Converts JSON in protobuf's mapping to protobuf, so that one reader handles
 * both: https://protobuf.dev/programming-guides/json. Integers keep all 64
 * bits, as text or as numbers. */
#ifndef SP_JSON_WIRE_H
#define SP_JSON_WIRE_H

#include "refusal.h"
#include "util/text/view.h"

typedef enum sp_json_kind {
  SP_JSON_END, /* end of the list of fields */
  SP_JSON_MESSAGE,
  SP_JSON_TEXT,
  SP_JSON_BASE64,
  SP_JSON_HEX,    /* bytes as hexadecimal digits, as OTLP's ids */
  SP_JSON_NUMBER, /* any varint, including enums */
  SP_JSON_BOOL,
  SP_JSON_FIXED64,
  SP_JSON_FIXED32,
  SP_JSON_DOUBLE
} sp_json_kind;

typedef struct sp_json_field {
  const char *name; /* "rawProfile"; JSON may also use "raw_profile" */
  uint32_t number;
  sp_json_kind kind;
  bool repeated;
  /* The fields of a message, the names of an enum's values, or NULL. */
  const struct sp_json_field *message;
  size_t place; /* offset in the reader's struct, if the reader has a table */
} sp_json_field;

/* Rows of a table. */
#define SP_JSON_ONE(name, number, kind) \
  { name, number, kind, false, NULL, 0 }
#define SP_JSON_MANY(name, number, kind) \
  { name, number, kind, true, NULL, 0 }
#define SP_JSON_INSIDE(name, number, message) \
  { name, number, SP_JSON_MESSAGE, false, message, 0 }
#define SP_JSON_LIST(name, number, message) \
  { name, number, SP_JSON_MESSAGE, true, message, 0 }
#define SP_JSON_ENUM(name, number, names) \
  { name, number, SP_JSON_NUMBER, false, names, 0 }
#define SP_JSON_VALUE(name, number) SP_JSON_ONE(name, number, SP_JSON_NUMBER)
#define SP_JSON_LAST \
  { NULL, 0, SP_JSON_END, false, NULL, 0 }

typedef struct sp_json_rules {
  bool refuse_unknown; /* refuse unknown fields and enum values; false: skip
                        * them */
} sp_json_rules;

/* Limits of the size and number of values of `text`: parsed JSON may need a
 * hundred times the memory of its text. */
#define SP_JSON_BYTES_MAX  ((size_t)8 << 20)
#define SP_JSON_VALUES_MAX ((size_t)400000)
#define SP_JSON_DEPTH_MAX  32

/* Append the message to `out`. Refuses invalid JSON, values of a wrong kind
 * and, depending on the rules, unknown fields as malformed. */
spanprof_status sp_json_wire(sp_view text, const sp_json_field *message,
                             const sp_json_rules *rules, sp_buffer *out,
                             sp_refusal *refusal);

/* Check the size and number of values of `text` before it is parsed. Refuses as
 * too large. *placeholder is an allocation that is never accessed: `mem` counts
 * with it the memory that the parser will get from the C library. Free it after
 * the parser's tree. If the allocation fails, *placeholder is NULL and the
 * result SPANPROF_ERR_NOMEM. */
spanprof_status sp_json_bounded(sp_view text, const sp_mem *mem,
                                void **placeholder, sp_refusal *refusal);

#endif
