/* The profiles of a run, kept as they were handed out and read afterwards, so
 * that reading costs nothing while it is measured. */
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
  size_t bytes; /* of all */
} bench_profiles;

#define BENCH_PROFILES_INIT \
  { .lock = PTHREAD_MUTEX_INITIALIZER }

/* The spanprof_profile_fn; `data` is a bench_profiles. */
void bench_profiles_take(void *data, const spanprof_profile *profile);

/* One entry of a profile; `cpu_ns` is its value of that type. */
typedef void (*bench_sample_fn)(void *data, const sp_pprof *profile,
                                const sp_pprof_sample *sample, uint64_t cpu_ns);

/* Visit every sample of every profile. */
void bench_profiles_each(bench_profiles *profiles, bench_sample_fn visit,
                         void *data);

/* The innermost function's name of a location, "" where there is none. */
const char *bench_location_name(const sp_pprof *profile, uint32_t location);

void bench_profiles_dispose(bench_profiles *profiles);

#endif
