/* Adds up profiles. They are read with protobuf-c's generated code, which the
 * core uses neither for writing nor for reading. */
#ifndef TALLY_H
#define TALLY_H

#include <spanprof/spanprof.h>

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TALLY_FRAMES_MAX 1024

/* One sample, valid during the call. Texts are never NULL. */
typedef struct tally_sample {
  const char *functions[TALLY_FRAMES_MAX]; /* innermost first */
  size_t function_count;
  const char *span_id;   /* "" if it has none */
  const char *span_name; /* "" if it has none */
  uint64_t value_ns;
  uint64_t ticks;
  const void *profile; /* for tally_sample_label() */
  const void *raw;
} tally_sample;

typedef void (*tally_sample_fn)(void *data, const tally_sample *sample);

typedef struct tally {
  /* Set before use; may be NULL. */
  tally_sample_fn on_sample;
  void *on_sample_data;
  /* Guarded by lock. */
  pthread_mutex_t lock;
  uint64_t profiles;
  uint64_t samples;  /* as reported by the callback; 0 for files */
  uint64_t value_ns; /* decoded */
  uint64_t ticks;    /* value / period */
  uint64_t period_ns;
  uint64_t repeats; /* skipped: profiles whose time was there before */
  uint64_t *times;
  size_t time_count;
  size_t time_capacity;
} tally;

void tally_init(tally *sum);
void tally_dispose(tally *sum);

/* A spanprof_profile_fn whose data is a tally. */
void tally_profile(void *sum, const spanprof_profile *profile);

/* Add a gzip-compressed profile, unless one of the same time was added. Returns
 * false if it cannot be read or violates a rule for all profiles; *why is the
 * reason. */
bool tally_add(tally *sum, const void *bytes, size_t size, const char **why);

/* Decompress gzip. Returns NULL if it is not gzip. The caller frees the
 * result. */
uint8_t *tally_unpack(const void *bytes, size_t size, size_t *out_size);

/* Add every *.pb.gz in `directory` whose name contains `part`. Returns the
 * number of files. Fails the program on a file that cannot be read. */
size_t tally_directory(tally *sum, const char *directory, const char *part);

/* The text of the sample's label, or NULL. */
const char *tally_sample_label(const tally_sample *sample, const char *key);

/* Does a function of the stack have this name? */
bool tally_sample_has(const tally_sample *sample, const char *function);

#endif
