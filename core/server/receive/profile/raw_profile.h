/* A pprof profile as it was uploaded. It is not checked, so ids and the numbers
 * of texts may be invalid. Other formats are converted to this struct, so that
 * the same rules apply to all. */
#ifndef SP_RAW_PROFILE_H
#define SP_RAW_PROFILE_H

#include "profile/tables/arena.h"
#include "server/model/limits.h"
#include "server/receive/wire/refusal.h"
#include "server/store/block/stored_hash.h"

/* Largest size of a text. As in Pyroscope, the beginning of longer texts is
 * cut. */
#define SP_RAW_TEXT_MAX ((size_t)65535)

/* Largest number of types of a profile, because types are compared pairwise. */
#define SP_RAW_TYPES_MAX ((size_t)64)

/* Most labels that are read of each sample: one more than allowed, so that the
 * check notices if a sample has too many. */
#define SP_RAW_LABELS_MAX (SP_LIMITS_LABELS_MAX + 1)

typedef struct sp_raw_type {
  int64_t type; /* number of a text, like all texts below */
  int64_t unit;
} sp_raw_type;

typedef struct sp_raw_label {
  int64_t key;
  int64_t text;
  int64_t number;
  int64_t unit;
} sp_raw_label;

typedef struct sp_raw_sample {
  uint64_t *locations; /* ids, innermost first */
  int64_t *values;
  sp_raw_label *labels; /* at most SP_RAW_LABELS_MAX */
  size_t location_count;
  size_t value_count;
  size_t label_count;
} sp_raw_sample;

typedef struct sp_raw_mapping {
  uint64_t id;
  int64_t file;
  int64_t build_id;
} sp_raw_mapping;

typedef struct sp_raw_line {
  uint64_t function;
  int64_t line;
} sp_raw_line;

typedef struct sp_raw_location {
  uint64_t id;
  uint64_t mapping;
  sp_raw_line *lines;
  size_t line_count;
} sp_raw_location;

typedef struct sp_raw_function {
  uint64_t id;
  int64_t name;
  int64_t system_name;
  int64_t file;
  int64_t start_line;
} sp_raw_function;

typedef struct sp_raw_profile {
  sp_arena *arena;
  sp_view *texts;
  sp_raw_type *types;
  sp_raw_sample *samples;   /* NULL if `sample_messages` is set */
  sp_view *sample_messages; /* the encoded samples of a large profile */
  sp_raw_mapping *mappings;
  sp_raw_location *locations;
  sp_raw_function *functions;
  size_t text_count;
  size_t type_count;
  size_t sample_count;
  size_t mapping_count;
  size_t location_count;
  size_t function_count;
  bool has_period_type;
  sp_raw_type period_type;
  int64_t period;
  int64_t time_ns;
  int64_t duration_ns;
  size_t bytes;       /* decompressed size */
  uint64_t upload_id; /* see sp_raw_upload_id() */
} sp_raw_profile;

/* Returns the hash of the id that the sender gave the profile, or 0 if it is
 * empty. */
static inline uint64_t sp_raw_upload_id(sp_view id) {
  return id.size ? sp_siphash(id.bytes, id.size, 0, 0) | 1 : 0;
}

/* Allocate `count` zeroed items of `item` bytes, and set the pointer *out. If
 * the arena is full, refuses the upload with SP_REFUSAL_LARGE. */
spanprof_status sp_raw_new(sp_arena *arena, size_t count, size_t item,
                           void *out, sp_refusal *refusal);

/* Decompress gzip into `into`, or set *out to `bytes` if they are not gzip.
 * Sets *large if the result has more than `max` bytes. Refuses malformed gzip
 * with SP_REFUSAL_BROKEN and a message of Go. */
spanprof_status sp_raw_unpack(sp_view bytes, sp_buffer *into, size_t max,
                              sp_view *out, bool *large, sp_refusal *refusal);

/* After a body was refused as malformed: if it has another known format, name
 * this format in the refusal. */
void sp_raw_explain(sp_view bytes, sp_refusal *refusal);

/* Decode a profile. The arena owns everything except texts, which point into
 * `bytes`. Refuses a malformed profile with SP_REFUSAL_BROKEN. */
spanprof_status sp_raw_read(sp_raw_profile *out, sp_arena *arena, sp_view bytes,
                            sp_refusal *refusal);

/* Reads the samples of a profile one by one. The samples of a large profile
 * are decoded for each reading, because all of them together need several
 * times the memory of their encoding. */
typedef struct sp_raw_samples {
  const sp_raw_profile *profile;
  sp_arena arena; /* owns the current sample */
  sp_raw_sample sample;
} sp_raw_samples;

void sp_raw_samples_init(sp_raw_samples *samples,
                         const sp_raw_profile *profile);
void sp_raw_samples_dispose(sp_raw_samples *samples);

/* Returns one sample, which is valid until the next call. Returns NULL if there
 * is no memory. Nothing else can fail, because sp_raw_read() has already
 * decoded all samples. */
const sp_raw_sample *sp_raw_samples_at(sp_raw_samples *samples, size_t i);

/* Returns the text with this number, or an empty text if the number is
 * invalid. */
static inline sp_view sp_raw_text(const sp_raw_profile *profile,
                                  int64_t number) {
  return number >= 0 && (uint64_t)number < profile->text_count
             ? profile->texts[number]
             : sp_view_of("", 0);
}

#endif
