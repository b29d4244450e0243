#include "bench_profiles.h"

#include "bench.h"

void bench_profiles_add(void *data, const spanprof_profile *profile) {
  bench_profiles *profiles = data;
  void *bytes = malloc(profile->size_bytes);
  struct bench_profile *item;

  if (!bytes)
    bench_die("no memory for a profile");
  memcpy(bytes, profile->bytes, profile->size_bytes);
  pthread_mutex_lock(&profiles->lock);
  if (profiles->count == profiles->capacity) {
    profiles->capacity = profiles->capacity ? 2 * profiles->capacity : 64;
    profiles->items =
        realloc(profiles->items, profiles->capacity * sizeof *profiles->items);
    if (!profiles->items)
      bench_die("no memory for a profile");
  }
  item = &profiles->items[profiles->count++];
  item->bytes = bytes;
  item->size = profile->size_bytes;
  profiles->bytes += profile->size_bytes;
  pthread_mutex_unlock(&profiles->lock);
}

static void profile_visit(const sp_pprof *profile, bench_sample_fn visit,
                          void *data) {
  uint32_t cpu = sp_pprof_type_find(profile, "cpu");
  size_t i;

  if (cpu == SP_PPROF_NONE)
    bench_die("a profile has no values of type cpu");
  for (i = 0; i < profile->sample_count; i++) {
    const sp_pprof_sample *sample = &profile->samples[i];

    visit(data, profile, sample, (uint64_t)sample->values[cpu]);
  }
}

void bench_profiles_each(bench_profiles *profiles, bench_sample_fn visit,
                         void *data) {
  size_t i;

  for (i = 0; i < profiles->count; i++) {
    sp_pprof *profile;

    if (sp_pprof_read(&profile, &sp_mem_default, profiles->items[i].bytes,
                      profiles->items[i].size) != SPANPROF_OK)
      bench_die("profile %zu cannot be read: it %s", i, spanprof_last_error());
    profile_visit(profile, visit, data);
    sp_pprof_free(profile);
  }
}

const char *bench_location_name(const sp_pprof *profile, uint32_t location) {
  const sp_pprof_location *at = &profile->locations[location];

  return at->line_count ? profile->functions[at->lines[0].function].name : "";
}

void bench_profiles_dispose(bench_profiles *profiles) {
  size_t i;

  for (i = 0; i < profiles->count; i++)
    free(profiles->items[i].bytes);
  free(profiles->items);
  profiles->items = NULL;
  profiles->count = profiles->capacity = 0;
}
