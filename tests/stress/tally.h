/* Adds up profiles. Reads them with code that protobuf-c generates. The core
 * does not use this code to write or read profiles, so it checks the core's
 * encoder. */
#ifndef TALLY_H
#define TALLY_H

#include <spanprof/spanprof.h>

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TALLY_FRAMES_MAX 1024

/* One sample. It is valid only during the call of a tally_sample_fn. Texts are
 * never NULL. */
typedef struct tally_sample {
  const char *functions[TALLY_FRAMES_MAX]; /* innermost first */
  size_t function_count;
  const char *span_id;   /* "" if it has none */
  const char *span_name; /* "" if it has none */
  uint64_t value_ns;
  uint64_t ticks;
  const void *profile; /* used by tally_sample_label() */
  const void *raw;
} tally_sample;

typedef void (*tally_sample_fn)(void *data, const tally_sample *sample);

typedef struct tally {
  /* Called for each sample of an added profile, unless it is NULL. The caller
   * sets both fields after tally_init(). */
  tally_sample_fn on_sample;
  void *on_sample_data;
  /* Guarded by `lock`. */
  pthread_mutex_t lock;
  uint64_t profiles;
  /* number of samples that the session has reported; 0 for profiles from
   * files */
  uint64_t samples;
  uint64_t value_ns; /* decoded */
  uint64_t ticks;    /* value / period */
  uint64_t period_ns;
  /* profiles that were skipped, because a profile with the same time was added
   * before */
  uint64_t repeats;
  uint64_t *times;
  size_t time_count;
  size_t time_capacity;
} tally;

void tally_init(tally *sum);
void tally_dispose(tally *sum);

/* Add a profile of a session. This is a spanprof_profile_fn; its data points to
 * a tally. */
void tally_profile(void *sum, const spanprof_profile *profile);

/* Add a gzip-compressed profile, unless a profile with the same time was added
 * before. Returns false and sets *why to the reason if the profile cannot be
 * read or violates a rule that all profiles must follow. */
bool tally_add(tally *sum, const void *bytes, size_t size, const char **why);

/* Decompress gzip data. Returns NULL if `bytes` are not gzip data. The caller
 * frees the result. */
uint8_t *tally_unpack(const void *bytes, size_t size, size_t *out_size);

/* Add every file *.pb.gz in `directory` whose name contains `part`. Returns the
 * number of files. Ends the program if a file cannot be read. */
size_t tally_directory(tally *sum, const char *directory, const char *part);

/* Returns the text of a sample's label, or NULL. */
const char *tally_sample_label(const tally_sample *sample, const char *key);

/* Does the stack of the sample contain a function with this name? */
bool tally_sample_has(const tally_sample *sample, const char *function);

#endif
