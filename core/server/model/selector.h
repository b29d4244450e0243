/* What a query asks for, as data: `query` parses and compiles, `store` selects.
 * Everything is borrowed from the caller, also by its other threads. */
#ifndef SP_SELECTOR_H
#define SP_SELECTOR_H

#include "cancel.h"

typedef enum sp_match_kind {
  SP_MATCH_EQUAL,
  SP_MATCH_UNEQUAL,
  SP_MATCH_REGEX,
  SP_MATCH_NO_REGEX,
} sp_match_kind;

/* One matcher. A series without the label has the value "". The names
 * "span_id", "profile_id" (the same) and "trace_id" are matched against the
 * samples' ids, as 16 or 32 lower-case digits, "" for none; where the series
 * has a label of that name, against the label. */
typedef struct sp_matcher {
  sp_match_kind kind;
  const char *name;
  const char *value; /* as written; the pattern of a regex */
  /* Of the regex kinds: whether the pattern matches all of the text. */
  bool (*matches)(const struct sp_matcher *matcher, const char *text,
                  size_t size);
  void *compiled; /* for `matches` */
} sp_matcher;

/* Whether a label's value is one that the matcher takes. */
bool sp_matcher_takes(const sp_matcher *matcher, const char *text);

/* Whether a query for a profile type finds `type`: the same one, or one that
 * has a former name of it. */
bool sp_profile_type_finds(const char *wanted, const char *type);

typedef struct sp_trace_id {
  uint64_t hi;
  uint64_t lo;
} sp_trace_id;

typedef struct sp_profile_uuid {
  uint8_t bytes[16];
} sp_profile_uuid;

/* All that is given must be true of a sample. An empty list of ids does not
 * restrict. */
typedef struct sp_selector {
  const sp_mem *mem; /* of what is selected; NULL: the store's */
  const sp_matcher *matchers;
  size_t matcher_count;
  /* Both inclusive, of the profiles' times cut to milliseconds. */
  int64_t from_ms;
  int64_t until_ms;
  const char *profile_type; /* five parts, "name:type:unit:ptype:punit",
                             * for sp_profile_type_finds(); NULL: all */
  const uint64_t *span_ids;
  size_t span_count;
  const sp_trace_id *trace_ids;
  size_t trace_count;
  const sp_profile_uuid *profiles;
  size_t profile_count;
  sp_cancel *cancel; /* SPANPROF_ERR_TIMEOUT when set; NULL: never */
} sp_selector;

#endif
