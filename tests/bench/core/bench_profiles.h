/* The profiles of a run. They are stored when they are delivered, and decoded
 * only after the run, so that decoding does not disturb the measurement. */
#ifndef BENCH_PROFILES_H
#define BENCH_PROFILES_H

#include <pthread.h>

#include <spanprof/spanprof.h>

#include "profile/pprof/pprof_reader.h"

typedef struct bench_profiles {
  pthread_mutex_t lock;
  struct bench_profile {
    void *bytes;
    size_t size;
  } * items;
  size_t count;
  size_t capacity;
  size_t bytes; /* size of all stored profiles */
} bench_profiles;

#define BENCH_PROFILES_INIT \
  { .lock = PTHREAD_MUTEX_INITIALIZER }

/* Store a profile. This is a spanprof_profile_fn, whose `data` is a
 * bench_profiles. */
void bench_profiles_add(void *data, const spanprof_profile *profile);

/* Receives one sample of a profile; `cpu_ns` is its CPU time. */
typedef void (*bench_sample_fn)(void *data, const sp_pprof *profile,
                                const sp_pprof_sample *sample, uint64_t cpu_ns);

/* Decode all profiles, and call `visit` for each sample. */
void bench_profiles_each(bench_profiles *profiles, bench_sample_fn visit,
                         void *data);

/* Returns the name of a location's innermost function, or "". */
const char *bench_location_name(const sp_pprof *profile, uint32_t location);

void bench_profiles_dispose(bench_profiles *profiles);

#endif
