/* Fills a store as uploads would, without HTTP, and compacts it:
 *
 * bench_server_fill DIRECTORY SHAPE APPLICATIONS PROFILES SECONDS
 *
 * SHAPE is ruby, plain, span-each or large. Each application has PROFILES
 * profiles, one every SECONDS, the last one now. Prints a line of JSON: the
 * sizes, and a span of a profile in the middle, for which a query can search.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <server/receive/profile/build.h>
#include <server/store/store.h>
#include <util/memory/hash_index.h>
#include <util/system/status.h>

#include "shop.h"

#define APPLICATIONS_MAX 20
#define VARIANTS         12

typedef struct fill {
  sp_received *made[APPLICATIONS_MAX][VARIANTS];
  uint64_t *span_ids[APPLICATIONS_MAX][VARIANTS]; /* span ids of the profiles in
                                                   * `made` */
  double gzipped;                                 /* average bytes of a gzipped
                                                   * profile */
  uint32_t applications;
  uint32_t profiles; /* number of profiles of each application */
  int64_t step_ns;
  int64_t first_ns;
} fill;

static void check(spanprof_status st, const char *what) {
  if (!st)
    return;
  fprintf(stderr, "%s: %s\n", what, spanprof_last_error());
  exit(1);
}

static shop_shape shape_of(const char *name) {
  if (strcmp(name, "ruby") == 0)
    return SHOP_RUBY;
  if (strcmp(name, "plain") == 0)
    return SHOP_PLAIN;
  if (strcmp(name, "span-each") == 0)
    return SHOP_SPAN_EACH;
  if (strcmp(name, "large") == 0)
    return SHOP_LARGE;
  fprintf(stderr, "no such shape: %s\n", name);
  exit(2);
}

static sp_received *build(const sp_buffer *pprof, uint32_t application) {
  sp_received *out;
  sp_raw_profile raw;
  sp_series_labels labels;
  sp_refusal refusal;
  size_t next = 0, negative = 0;
  sp_arena arena;
  char service[16];

  snprintf(service, sizeof service, "app-%u", application);
  sp_refusal_init(&refusal, &sp_mem_default);
  sp_arena_init(&arena, &sp_mem_default, SIZE_MAX);
  sp_series_labels_init(&labels, &sp_mem_default);
  sp_series_labels_add(&labels, sp_view_text("__name__"),
                       sp_view_text("process_cpu"));
  sp_series_labels_add(&labels, sp_view_text("service_name"),
                       sp_view_text(service));
  check(
      sp_raw_read(&raw, &arena, sp_view_of(pprof->data, pprof->size), &refusal),
      "read");
  check(
      sp_build(&out, &raw, &labels, &sp_limits_own, &next, &negative, &refusal),
      "build");
  sp_series_labels_dispose(&labels);
  sp_refusal_dispose(&refusal);
  sp_arena_dispose(&arena);
  return out;
}

static double gzipped(const sp_buffer *pprof) {
  const shop_end end = {.time_ns = 1, .value_ns = 1, .span_id = 1};
  shop_template packed;
  sp_buffer upload;
  double size;

  sp_buffer_init(&upload, &sp_mem_default);
  if (!shop_template_make(&packed, pprof->data, pprof->size))
    exit(1);
  shop_upload(&upload, &packed, &end);
  size = (double)upload.size;
  sp_buffer_dispose(&upload);
  shop_template_dispose(&packed);
  return size;
}

static void make(fill *fill, const shop_shape *shape) {
  sp_buffer pprof;
  uint32_t i, k;
  size_t s;

  sp_buffer_init(&pprof, &sp_mem_default);
  for (i = 0; i < fill->applications; i++)
    for (k = 0; k < VARIANTS; k++) {
      sp_received *made;

      sp_buffer_clear(&pprof);
      shop_profile(&pprof, shape, i, k);
      made = fill->made[i][k] = build(&pprof, i);
      fill->span_ids[i][k] = calloc(made->sample_count, sizeof(uint64_t));
      if (!fill->span_ids[i][k])
        exit(1);
      for (s = 0; s < made->sample_count; s++)
        fill->span_ids[i][k][s] = made->samples[s].span_id;
      fill->gzipped += gzipped(&pprof) / (fill->applications * VARIANTS);
    }
  sp_buffer_dispose(&pprof);
}

/* Returns one of the made profiles with a new time, new span ids and other CPU
 * times. A span id occurs in one profile only. */
static const sp_received *at(fill *fill, uint32_t application,
                             uint32_t number) {
  sp_received *profile = fill->made[application][number % VARIANTS];
  const uint64_t *ids = fill->span_ids[application][number % VARIANTS];
  size_t s;

  profile->time_ns = fill->first_ns + fill->step_ns * number + application;
  for (s = 0; s < profile->sample_count; s++) {
    const uint64_t random =
        sp_hash_mix(sp_hash_mix(SP_HASH_SEED, s), number * 32 + application);

    if (ids[s])
      profile->samples[s].span_id = sp_hash_mix(ids[s], number);
    profile->values[profile->samples[s].values] =
        random % 4 ? 10000000 : (int64_t)(random >> 32) % 4 * 10000000;
  }
  return profile;
}

static void put(fill *fill, sp_store *store) {
  const int64_t hour = INT64_C(3600000000000);
  const sp_received *some[APPLICATIONS_MAX];
  uint32_t i, k;

  for (i = 0; i < fill->profiles; i++) {
    for (k = 0; k < fill->applications; k++)
      some[k] = at(fill, k, i);
    check(sp_store_put(store, some, fill->applications, NULL), "put");
    if (i &&
        (some[0]->time_ns / hour) != (some[0]->time_ns - fill->step_ns) / hour)
      check(sp_store_compact(store), "compact");
  }
  check(sp_store_compact(store), "compact");
}

static int64_t bytes_of(const char *path) {
  struct stat file;

  return stat(path, &file) == 0 ? (int64_t)file.st_size : 0;
}

/* Print the results, among them a span of the profile in the middle with its
 * CPU time. */
static void print(fill *fill, const char *path) {
  const uint32_t application = fill->applications / 2;
  const sp_received *one = at(fill, application, fill->profiles / 2);
  const uint64_t span = one->samples[0].span_id;
  const uint64_t all = (uint64_t)fill->profiles * fill->applications;
  int64_t value = 0;
  size_t s;

  for (s = 0; s < one->sample_count; s++)
    if (one->samples[s].span_id == span)
      value += one->values[one->samples[s].values];
  printf("{\"profiles\": %llu, \"file_bytes\": %lld, \"bytes_each\": %.0f, "
         "\"gzipped_each\": %.0f, \"service\": \"app-%u\", \"span\": "
         "\"%016llx\", \"span_value\": \"%lld\", \"from_ms\": %lld, "
         "\"span_ms\": %lld}\n",
         (unsigned long long)all, (long long)bytes_of(path),
         (double)bytes_of(path) / (double)all, fill->gzipped, application,
         (unsigned long long)span, (long long)value,
         (long long)(fill->first_ns / 1000000),
         (long long)(one->time_ns / 1000000));
}

static void dispose(fill *fill) {
  uint32_t i, k;

  for (i = 0; i < fill->applications; i++)
    for (k = 0; k < VARIANTS; k++) {
      sp_received_free(fill->made[i][k]);
      free(fill->span_ids[i][k]);
    }
}

int main(int argc, char **argv) {
  static fill all;
  sp_store_options options = {.mem = &sp_mem_default,
                              .clock = sp_clock_system()};
  sp_store *store;
  shop_shape shape;
  char path[4096];
  sp_log log;

  if (argc != 6) {
    fprintf(stderr, "usage: %s DIRECTORY SHAPE APPLICATIONS PROFILES SECONDS\n",
            argv[0]);
    return 2;
  }
  shape = shape_of(argv[2]);
  all.applications = (uint32_t)atoi(argv[3]);
  all.profiles = (uint32_t)atoi(argv[4]);
  all.step_ns = (int64_t)(atof(argv[5]) * 1e9);
  all.first_ns = (int64_t)sp_clock_unix_ns(options.clock) -
                 all.step_ns * (all.profiles - 1);
  if (all.applications < 1 || all.applications > APPLICATIONS_MAX ||
      all.profiles < 1 || all.step_ns < 1)
    return 2;
  sp_log_init(&log, NULL, NULL, SPANPROF_LOG_OFF, options.clock);
  options.log = &log;
  snprintf(path, sizeof path, "%s/spanprof.db", argv[1]);
  options.path = path;
  make(&all, &shape);
  check(sp_store_open(&store, &options), "open");
  put(&all, store);
  sp_store_close(store);
  print(&all, path);
  dispose(&all);
  return 0;
}
