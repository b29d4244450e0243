/* Reads any pprof profile into flat arrays.
 *
 * Format: perftools.profiles.Profile of google/pprof b9395ee17,
 * proto/profile.proto. */
#ifndef SP_PPROF_READER_H
#define SP_PPROF_READER_H

#include "profile/tables/arena.h"

/* Maximum decompressed size of a profile, and maximum memory of the result.
 * During reading, the largest message and the ids may use the same amount
 * again. */
#define SP_PPROF_UNPACKED_MAX ((size_t)64 << 20)
#define SP_PPROF_MEMORY_MAX   ((size_t)256 << 20)

#define SP_PPROF_HEAD_UNPACKED_MAX ((size_t)512 << 20)

#define SP_PPROF_NONE UINT32_MAX

/* Every text below is valid UTF-8 without control characters (invalid texts are
 * cleaned), NUL-terminated and not NULL, unless noted. */

typedef struct sp_pprof_type {
  const char *type; /* "cpu" */
  const char *unit; /* "nanoseconds" */
} sp_pprof_type;

typedef struct sp_pprof_label {
  const char *key;
  const char *text; /* NULL: the label is a number */
  int64_t number;
  const char *unit; /* unit of `number` */
} sp_pprof_label;

typedef struct sp_pprof_mapping {
  uint64_t start;
  uint64_t limit;
  uint64_t file_offset;
  const char *file;
  const char *build_id;
  bool has_functions;
} sp_pprof_mapping;

typedef struct sp_pprof_function {
  const char *name; /* "" if the profile has none */
  const char *system_name;
  const char *file;
  int64_t start_line;
} sp_pprof_function;

typedef struct sp_pprof_line {
  uint32_t function; /* index */
  int64_t line;
} sp_pprof_line;

typedef struct sp_pprof_location {
  uint32_t mapping; /* index in `mappings`, or SP_PPROF_NONE */
  uint32_t line_count;
  /* Innermost first; several if functions were inlined. */
  const sp_pprof_line *lines;
  uint64_t address;
} sp_pprof_location;

typedef struct sp_pprof_sample {
  const int64_t *values;     /* one value for each type of the profile */
  const uint32_t *locations; /* indices in `locations`, innermost first */
  const sp_pprof_label *labels;
  uint32_t location_count; /* may be 0 */
  uint32_t label_count;
} sp_pprof_sample;

typedef struct sp_pprof {
  const sp_pprof_type *types; /* at least one type */
  const sp_pprof_sample *samples;
  const sp_pprof_location *locations;
  const sp_pprof_function *functions;
  const sp_pprof_mapping *mappings;
  const char *const *comments;
  size_t type_count;
  size_t sample_count;
  size_t location_count;
  size_t function_count;
  size_t mapping_count;
  size_t comment_count;
  /* Both texts are "" if the profile has no period type. */
  sp_pprof_type period_type;
  int64_t period;
  int64_t time_ns; /* Unix time; 0: unknown */
  int64_t duration_ns;
  uint32_t default_type; /* index of the type to show first */
} sp_pprof;

/* Read a profile, which may be raw or gzip, also with several members. The
 * result contains no pointer into `bytes`. Returns SPANPROF_ERR_FORMAT if
 * `bytes` is not a valid profile, SPANPROF_ERR_LIMIT if a limit above is
 * exceeded, or SPANPROF_ERR_NOMEM. The message of the first two continues a
 * sentence that begins with the file's name: "is not a pprof profile". *out is
 * NULL on failure. */
spanprof_status sp_pprof_read(sp_pprof **out, const sp_mem *mem,
                              const void *bytes, size_t size);

/* Read a profile like sp_pprof_read(), but skip samples, locations, functions
 * and mappings. Returns SPANPROF_ERR_LIMIT if the decompressed size exceeds
 * SP_PPROF_HEAD_UNPACKED_MAX. */
spanprof_status sp_pprof_read_head(sp_pprof **out, const sp_mem *mem,
                                   const void *bytes, size_t size);

/* Make an empty profile, for readers of other formats. *arena gets the arena
 * that owns the profile's memory. Returns NULL if there is no memory. */
sp_pprof *sp_pprof_new(const sp_mem *mem, sp_arena **arena);
void sp_pprof_free(sp_pprof *profile); /* may be NULL */

/* The index of the type named `type` ("cpu"), or SP_PPROF_NONE. */
uint32_t sp_pprof_type_find(const sp_pprof *profile, const char *type);

/* The text of the sample's label `key`, or NULL. If the sample has several such
 * labels, the last one is used, as Pyroscope does for span ids. */
const char *sp_pprof_label_text(const sp_pprof_sample *sample, const char *key);

#endif
