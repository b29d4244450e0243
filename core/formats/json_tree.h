/* Parses a JSON document (RFC 8259) into a tree. Texts without escapes point
 * into the document, and everything else is in an arena. */
#ifndef SP_JSON_TREE_H
#define SP_JSON_TREE_H

#include "profile/tables/arena.h"
#include "util/text/view.h"

typedef enum sp_json_kind {
  SP_JSON_NULL, /* also a value that is missing */
  SP_JSON_BOOLEAN,
  SP_JSON_NUMBER,
  SP_JSON_TEXT,
  SP_JSON_LIST,
  SP_JSON_OBJECT,
} sp_json_kind;

typedef struct sp_json_node {
  uint32_t kind;
  uint32_t count; /* bytes of a text, items of a list, members of an object */
  union {
    double number;
    const char *text; /* not NUL-terminated, and not always valid UTF-8 */
    const struct sp_json_node *items; /* an object alternates keys and values */
  };
} sp_json_node;

/* Parse a document. Returns SPANPROF_ERR_FORMAT if it is not JSON, or
 * SPANPROF_ERR_LIMIT or SPANPROF_ERR_NOMEM if memory is exhausted. */
spanprof_status sp_json_parse(const sp_json_node **out, sp_arena *arena,
                              const char *text, size_t size);

/* The value of an object's member, or an item of a list. Returns a value of the
 * kind SP_JSON_NULL if it is missing. */
const sp_json_node *sp_json_member(const sp_json_node *object, const char *key);
const sp_json_node *sp_json_item(const sp_json_node *list, size_t i);

/* The number of items of a list; 0 for other values. */
size_t sp_json_count(const sp_json_node *list);

/* The value of a text, or the empty text for other values. */
sp_view sp_json_view(const sp_json_node *text);

/* The value of a number, or `otherwise` for other values. */
double sp_json_number(const sp_json_node *number, double otherwise);

/* The value of an integer from 0 to UINT32_MAX - 1, or UINT32_MAX for other
 * values. */
uint32_t sp_json_index(const sp_json_node *number);

#endif
