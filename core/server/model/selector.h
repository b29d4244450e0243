/* A selector: the conditions of a query for profiles. The folder `query` parses
 * and compiles a selector, and `store` evaluates it. All its memory belongs to
 * the caller. Several threads may read it at the same time. */
#ifndef SP_SELECTOR_H
#define SP_SELECTOR_H

#include "cancel.h"

typedef enum sp_match_kind {
  SP_MATCH_EQUAL,
  SP_MATCH_UNEQUAL,
  SP_MATCH_REGEX,
  SP_MATCH_NO_REGEX,
} sp_match_kind;

/* A label matcher. A series without the label has the value "". The names
 * "span_id", "profile_id" (a synonym) and "trace_id" are matched against the
 * ids of samples, which are written as 16 or 32 lower-case hexadecimal digits,
 * or "" if a sample has no id. If the series has a label of that name, the
 * label is matched instead. */
typedef struct sp_matcher {
  sp_match_kind kind;
  const char *name;
  const char *value; /* the value as written; for the regex kinds, the
                      * pattern */
  /* For the regex kinds: returns whether the pattern matches the whole text. */
  bool (*matches)(const struct sp_matcher *matcher, const char *text,
                  size_t size);
  void *compiled; /* the compiled pattern, used by `matches` */
} sp_matcher;

/* Returns whether the matcher accepts a label's value. */
bool sp_matcher_accepts(const sp_matcher *matcher, const char *text);

/* Returns whether a query for the profile type `wanted` includes `type`,
 * because it is the same type or a former name of that type. */
bool sp_profile_type_matches(const char *wanted, const char *type);

typedef struct sp_trace_id {
  uint64_t hi;
  uint64_t lo;
} sp_trace_id;

typedef struct sp_profile_uuid {
  uint8_t bytes[16];
} sp_profile_uuid;

/* A sample matches if it satisfies all conditions. An empty list is no
 * condition. */
typedef struct sp_selector {
  const sp_mem *mem; /* allocates the results; NULL: the store's allocator is
                      * used */
  const sp_matcher *matchers;
  size_t matcher_count;
  /* Range of the profiles' times in whole milliseconds, rounded down; both ends
   * are inclusive. */
  int64_t from_ms;
  int64_t until_ms;
  const char *profile_type; /* five parts, "name:type:unit:ptype:punit", for
                             * sp_profile_type_matches(); NULL: all types */
  const uint64_t *span_ids;
  size_t span_count;
  const sp_trace_id *trace_ids;
  size_t trace_count;
  const sp_profile_uuid *profiles;
  size_t profile_count;
  /* Used only if there are too many stacks for one tree
   * (../store/select/stack_fold.h). If `merges_lines` is set, locations with
   * the same functions become one location, which has the lines of one of
   * them. `other` is the name of the node that represents frames which are not
   * in the tree; NULL: SP_TREE_OTHER. */
  bool merges_lines;
  const char *other;
  sp_cancel *cancel; /* may be NULL; a cancelled query fails with
                      * SPANPROF_ERR_TIMEOUT */
} sp_selector;

#endif
