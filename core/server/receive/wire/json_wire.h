/* Converts JSON in the mapping of protobuf to protobuf, so that one reader
 * handles both: https://protobuf.dev/programming-guides/json. Integers keep all
 * 64 bits, both as text and as numbers. */
#ifndef SP_JSON_WIRE_H
#define SP_JSON_WIRE_H

#include "refusal.h"
#include "util/text/view.h"

typedef enum sp_json_kind {
  SP_JSON_END, /* end of the list of fields */
  SP_JSON_MESSAGE,
  SP_JSON_TEXT,
  SP_JSON_BASE64,
  SP_JSON_HEX,    /* bytes as hexadecimal digits, like OTLP's ids */
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
  /* The fields if this is a message, the names of values if it is an enum, or
   * NULL. */
  const struct sp_json_field *message;
  /* Offset of the member for this field, if a reader fills a struct by this
   * table. */
  size_t place;
} sp_json_field;

/* The rows of a table of fields. */
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
  /* If true, unknown fields and enum values are refused; if false, they are
   * skipped. */
  bool refuse_unknown;
} sp_json_rules;

/* Limits of the size of a text, and of the number and depth of its values.
 * Parsed JSON may need a hundred times the memory of its text. */
#define SP_JSON_BYTES_MAX  ((size_t)8 << 20)
#define SP_JSON_VALUES_MAX ((size_t)400000)
#define SP_JSON_DEPTH_MAX  32

/* Append the message in `text` to `out`, as protobuf. Refuses invalid JSON,
 * values of a wrong kind and, depending on the rules, unknown fields with
 * SP_REFUSAL_BROKEN. */
spanprof_status sp_json_wire(sp_view text, const sp_json_field *message,
                             const sp_json_rules *rules, sp_buffer *out,
                             sp_refusal *refusal);

/* Check the size and number of values of `text` before it is parsed. Refuses a
 * larger text with SP_REFUSAL_LARGE. Sets *placeholder to an allocation that is
 * never accessed. With this allocation, `mem` counts the memory that the parser
 * will get from the C library. Free *placeholder after the parser's tree. If
 * the allocation fails, *placeholder is NULL and SPANPROF_ERR_NOMEM is
 * returned. */
spanprof_status sp_json_bounded(sp_view text, const sp_mem *mem,
                                void **placeholder, sp_refusal *refusal);

#endif
