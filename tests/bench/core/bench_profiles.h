/* The profiles of a run, stored when they are delivered and read afterwards, so
 * that reading does not disturb the measurement. */
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
  size_t bytes; /* total size */
} bench_profiles;

#define BENCH_PROFILES_INIT \
  { .lock = PTHREAD_MUTEX_INITIALIZER }

/* A spanprof_profile_fn; `data` is a bench_profiles. */
void bench_profiles_add(void *data, const spanprof_profile *profile);

/* Receives one sample of a profile; `cpu_ns` is its CPU time. */
typedef void (*bench_sample_fn)(void *data, const sp_pprof *profile,
                                const sp_pprof_sample *sample, uint64_t cpu_ns);

/* Visit every sample of every profile. */
void bench_profiles_each(bench_profiles *profiles, bench_sample_fn visit,
                         void *data);

/* The name of a location's innermost function, or "". */
const char *bench_location_name(const sp_pprof *profile, uint32_t location);

void bench_profiles_dispose(bench_profiles *profiles);

#endif
