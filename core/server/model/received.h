/* A received profile, independent of its format: `receive` builds it and
 * `store` stores it. Each kind of item has a table without duplicates, and
 * items refer to each other by their numbers (indexes in these tables).
 *
 * The functions that add items do not return errors. The first error stays in
 * `st` and later calls do nothing, so a caller checks sp_received_status()
 * once, after the last call. If the profile needs more memory than bytes_max,
 * the error is SPANPROF_ERR_LIMIT. */
#ifndef SP_RECEIVED_H
#define SP_RECEIVED_H

#include "profile/tables/arena.h"
#include "text_pair.h"
#include "util/memory/hash_index.h"

#define SP_RECEIVED_NONE UINT32_MAX

/* A text, followed by a NUL. Texts are valid UTF-8; adding any other text is
 * the error SPANPROF_ERR_FORMAT. */
typedef struct sp_received_text {
  const char *bytes;
  uint32_t size;
} sp_received_text;

/* A sample type or the period type. */
typedef struct sp_received_type {
  uint32_t type; /* text: "cpu" */
  uint32_t unit; /* text: "nanoseconds" */
} sp_received_type;

typedef struct sp_received_function {
  uint32_t name;
  uint32_t file;
  int64_t start_line;
} sp_received_function;

typedef struct sp_received_line {
  uint32_t function;
  int64_t line;
} sp_received_line;

/* A location in the code. Its lines are innermost first; there are several if
 * calls were inlined. If no names are known there are no lines, and the address
 * identifies the location. */
typedef struct sp_received_location {
  uint32_t first_line; /* index in lines[] */
  uint32_t line_count;
  uint64_t address; /* 0 if it has lines */
} sp_received_location;

/* A range of stack_frames[], which are numbers of locations, innermost first.
 */
typedef struct sp_received_stack {
  uint32_t first;
  uint32_t count;
} sp_received_stack;

/* A label set: a range of pairs[], sorted by the bytes of the names, without
 * duplicate names. */
typedef struct sp_received_labels {
  uint32_t first;
  uint32_t count;
} sp_received_labels;

typedef struct sp_received_pair {
  uint32_t name;
  uint32_t value;
} sp_received_pair;

typedef struct sp_received_sample {
  uint32_t stack;
  uint32_t labels;   /* label set of the sample; set 0 is empty */
  uint64_t span_id;  /* the 16 hexadecimal digits of the id as a number; 0:
                      * none */
  uint64_t trace_hi; /* both halves 0: no trace id */
  uint64_t trace_lo;
  uint32_t values; /* index in values[] of the first of type_count values */
} sp_received_sample;

typedef struct sp_received {
  sp_arena arena;
  const sp_mem *mem;
  spanprof_status st;
  sp_received_text *texts; /* text 0 is the empty text */
  sp_received_function *functions;
  sp_received_line *lines;
  sp_received_location *locations;
  uint32_t *stack_frames;
  sp_received_stack *stacks; /* stack 0 is the empty stack */
  sp_received_pair *pairs;
  sp_received_labels *label_sets;
  sp_received_sample *samples;
  int64_t *values;
  sp_received_type *types;
  size_t text_count, function_count, line_count, location_count;
  size_t stack_frame_count, stack_count, pair_count, label_set_count;
  size_t sample_count, value_count, type_count;
  size_t text_capacity, function_capacity, line_capacity, location_capacity;
  size_t stack_frame_capacity, stack_capacity, pair_capacity,
      label_set_capacity;
  size_t sample_capacity, value_capacity, type_capacity;
  size_t table_bytes; /* size of the arrays above, at most bytes_max */
  size_t bytes_max;
  sp_index text_index, function_index, location_index, stack_index, set_index;
  sp_received_type period_type; /* texts 0 and 0 if there is none */
  int64_t period;
  int64_t time_ns; /* Unix time */
  int64_t duration_ns;
  /* The id that the sender gave the profile. A repeated upload of the profile
   * has the same id; other profiles with equal series, time and content have
   * other ids. 0: none. */
  uint64_t upload_id;
  uint32_t series; /* label set of the series, including __name__ */
} sp_received;

/* Create an empty profile. Returns SPANPROF_ERR_NOMEM on failure. */
spanprof_status sp_received_new(sp_received **out, const sp_mem *mem,
                                size_t bytes_max);
void sp_received_free(sp_received *profile); /* `profile` may be NULL */

/* Add an item, unless the profile has an equal one, and return its number.
 * Returns 0 after an error. */
uint32_t sp_received_add_text(sp_received *profile, const char *bytes,
                              size_t size);
uint32_t sp_received_add_function(sp_received *profile, uint32_t name,
                                  uint32_t file, int64_t start_line);
uint32_t sp_received_add_location(sp_received *profile,
                                  const sp_received_line *lines, size_t count,
                                  uint64_t address);
uint32_t sp_received_add_stack(sp_received *profile, const uint32_t *locations,
                               size_t count);

/* Add a label set and return its number. There may be SP_RECEIVED_LABELS_MAX
 * pairs, in any order. If a name occurs twice, the first pair counts. Pairs
 * with an empty value are omitted. */
#define SP_RECEIVED_LABELS_MAX 256
uint32_t sp_received_add_labels(sp_received *profile,
                                const sp_received_pair *pairs, size_t count);

/* Add a sample type. All types must be added before the first sample. */
void sp_received_add_type(sp_received *profile, const char *type,
                          const char *unit);

/* Add a sample. `values` has type_count elements. */
void sp_received_add_sample(sp_received *profile,
                            const sp_received_sample *sample,
                            const int64_t *values);

/* Returns the value of a label in a label set, or NULL if the set does not have
 * it. */
const char *sp_received_label(const sp_received *profile, uint32_t set,
                              const char *name);

static inline const char *sp_received_text_of(const sp_received *profile,
                                              uint32_t text) {
  return profile->texts[text].bytes;
}

static inline spanprof_status sp_received_status(const sp_received *profile) {
  return profile->st;
}

#endif
