/* A profile as it was received, whatever its format: what `receive` builds and
 * `store` keeps. Flat tables, each item once, referred to by their numbers.
 *
 * A builder's functions never fail by themselves: the first failure stays in
 * `st` with its sentence, and what follows does nothing, so that a caller looks
 * once, at the end (sp_received_status()). Memory is bounded by bytes_max:
 * SPANPROF_ERR_LIMIT. */
#ifndef SP_RECEIVED_H
#define SP_RECEIVED_H

#include "profile/tables/arena.h"
#include "text_pair.h"
#include "util/memory/hash_index.h"

#define SP_RECEIVED_NONE UINT32_MAX

/* Bytes of a text, with a NUL behind them. Valid UTF-8 by the builder's care:
 * what is not is refused with SPANPROF_ERR_FORMAT. */
typedef struct sp_received_text {
  const char *bytes;
  uint32_t size;
} sp_received_text;

/* The profile's kinds of values, and its period's. */
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

/* One place in the code: its lines innermost first, more than one where calls
 * were inlined; none where it was never named: then its address tells it. */
typedef struct sp_received_location {
  uint32_t first_line; /* of lines[] */
  uint32_t line_count;
  uint64_t address; /* 0 where it has lines */
} sp_received_location;

/* Frames innermost first, of stack_frames[]; numbers of locations. */
typedef struct sp_received_stack {
  uint32_t first;
  uint32_t count;
} sp_received_stack;

/* Of label_pairs[], sorted by the names' bytes, each name once. */
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
  uint32_t labels;   /* a set of the sample's own labels; 0 is the empty one */
  uint64_t span_id;  /* 0: none; the 16 digits read as one number */
  uint64_t trace_hi; /* both 0: none */
  uint64_t trace_lo;
  uint32_t values; /* of values[], type_count of them */
} sp_received_sample;

typedef struct sp_received {
  sp_arena arena;
  const sp_mem *mem;
  spanprof_status st;
  sp_received_text *texts; /* 0 is the empty one */
  sp_received_function *functions;
  sp_received_line *lines;
  sp_received_location *locations;
  uint32_t *stack_frames;
  sp_received_stack *stacks; /* 0 is the empty one */
  sp_received_pair *pairs;
  sp_received_labels *label_sets;
  sp_received_sample *samples;
  int64_t *values;
  sp_received_type *types;
  size_t text_count, function_count, line_count, location_count;
  size_t stack_frame_count, stack_count, pair_count, label_set_count;
  size_t sample_count, value_count, type_count;
  size_t text_room, function_room, line_room, location_room;
  size_t stack_frame_room, stack_room, pair_room, label_set_room;
  size_t sample_room, value_room, type_room;
  size_t table_bytes; /* of the arrays above, against bytes_max */
  size_t bytes_max;
  sp_index text_index, function_index, location_index, stack_index, set_index;
  sp_received_type period_type; /* texts 0 and 0: none */
  int64_t period;
  int64_t time_ns; /* Unix time */
  int64_t duration_ns;
  /* Distinguishes profiles of equal series, time and content: only retries have
   * the same id. 0: none. */
  uint64_t upload_id;
  uint32_t series; /* the label set of all its samples, __name__ among them */
} sp_received;

/* An empty profile. SPANPROF_ERR_NOMEM. */
spanprof_status sp_received_new(sp_received **out, const sp_mem *mem,
                                size_t bytes_max);
void sp_received_free(sp_received *profile); /* NULL is fine */

/* The number of each; equal ones have one number. 0 after a failure. */
uint32_t sp_received_add_text(sp_received *profile, const char *bytes,
                              size_t size);
uint32_t sp_received_add_function(sp_received *profile, uint32_t name,
                                  uint32_t file, int64_t start_line);
uint32_t sp_received_add_location(sp_received *profile,
                                  const sp_received_line *lines, size_t count,
                                  uint64_t address);
uint32_t sp_received_add_stack(sp_received *profile, const uint32_t *locations,
                               size_t count);

/* Pairs in any order; of one name twice the first counts, and one whose value
 * is empty is left out. At most SP_RECEIVED_LABELS_MAX. */
#define SP_RECEIVED_LABELS_MAX 256
uint32_t sp_received_add_labels(sp_received *profile,
                                const sp_received_pair *pairs, size_t count);

/* Add a kind of values; all of them before the first sample. */
void sp_received_add_type(sp_received *profile, const char *type,
                          const char *unit);

/* `values`: type_count of them. */
void sp_received_add_sample(sp_received *profile,
                            const sp_received_sample *sample,
                            const int64_t *values);

/* The value of a label of the set, or NULL. */
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
