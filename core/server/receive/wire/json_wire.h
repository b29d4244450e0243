/* JSON as protobuf's mapping has it, rewritten as the same message on the wire,
 * so that one reader serves both: https://protobuf.dev/programming-guides/json.
 * Integers stay whole, as text or as numbers. */
#ifndef SP_JSON_WIRE_H
#define SP_JSON_WIRE_H

#include "refusal.h"
#include "util/text/view.h"

typedef enum sp_json_kind {
  SP_JSON_END, /* of the list of fields */
  SP_JSON_MESSAGE,
  SP_JSON_TEXT,
  SP_JSON_BASE64,
  SP_JSON_HEX,    /* bytes, as OTLP has its ids */
  SP_JSON_NUMBER, /* every varint, also an enum */
  SP_JSON_BOOL,
  SP_JSON_FIXED64,
  SP_JSON_FIXED32,
  SP_JSON_DOUBLE
} sp_json_kind;

typedef struct sp_json_field {
  const char *name; /* "rawProfile"; a text may also have "raw_profile" */
  uint32_t number;
  sp_json_kind kind;
  bool repeated;
  /* The fields of a message; the names of an enum's values, or NULL. */
  const struct sp_json_field *message;
  size_t place; /* offset in the struct of its reader, if that has a table */
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
  bool refuse_unknown; /* fields and enum values; else they are skipped */
} sp_json_rules;

/* What `text` may be and hold, against texts that take a hundred times their
 * size when they are parsed. */
#define SP_JSON_BYTES_MAX  ((size_t)8 << 20)
#define SP_JSON_VALUES_MAX ((size_t)400000)
#define SP_JSON_DEPTH_MAX  32

/* Append the message to `out`. Refuses as broken what is no JSON, has a value
 * of the wrong kind or, where the rules say so, an unknown field. */
spanprof_status sp_json_wire(sp_view text, const sp_json_field *message,
                             const sp_json_rules *rules, sp_buffer *out,
                             sp_refusal *refusal);

/* Whether a parser may be let loose on `text`: its size and number of values.
 * Refuses as too large. *held is memory, never touched, that stands for what
 * the parser takes of the C library, so that `mem` counts it: to be freed after
 * the parser's tree. NULL where this fails: SPANPROF_ERR_NOMEM. */
spanprof_status sp_json_bounded(sp_view text, const sp_mem *mem, void **held,
                                sp_refusal *refusal);

#endif
