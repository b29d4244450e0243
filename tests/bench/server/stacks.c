/* Fills a store with random stacks of the last day, and compacts it:
 *
 * bench_server_stacks DIRECTORY STACKS
 *
 * Three applications have STACKS different stacks together, with 30 to 60
 * frames and one sample each. The innermost frames of a stack are random. Each
 * application has one profile for every minute. Prints a line of JSON: the sum
 * of all samples in nanoseconds, and the time of the first profile. */
#include <stdio.h>
#include <stdlib.h>

#include <server/store/store.h>
#include <util/memory/hash_index.h>
#include <util/system/status.h>

#define APPLICATIONS 3
#define PROFILES     1440
#define FUNCTIONS    4000
#define STEP_NS      INT64_C(60000000000)
#define DEPTH_MIN    30
#define DEPTH_MAX    60
#define SHARED       5 /* outer frames, each of which is one of a few functions */
#define PROFILE_MAX  ((size_t)256 << 20)

static uint64_t random_state = 1;

static uint64_t random_below(uint64_t count) {
  random_state = sp_hash_mix(random_state, 1);
  return random_state % count;
}

static void check(spanprof_status st, const char *what) {
  if (!st)
    return;
  fprintf(stderr, "%s: %s\n", what, spanprof_last_error());
  exit(1);
}

static uint32_t text_add(sp_received *profile, const char *format,
                         uint64_t number) {
  char text[64];
  const int size =
      snprintf(text, sizeof text, format, (unsigned long long)number);

  return sp_received_add_text(profile, text, (size_t)size);
}

static uint32_t location_add(sp_received *profile, uint64_t function) {
  const sp_received_line line = {
      .function = sp_received_add_function(
          profile, text_add(profile, "Shop::Part%llu#call", function),
          text_add(profile, "app/part_%llu.rb", function / 20), 10),
      .line = 11 + (int64_t)random_below(4)};

  return sp_received_add_location(profile, &line, 1, 0);
}

static void sample_add(sp_received *profile, uint32_t labels, int64_t *sum) {
  const uint32_t depth =
      DEPTH_MIN + (uint32_t)random_below(DEPTH_MAX - DEPTH_MIN + 1);
  const int64_t value = 10000000 * (1 + (int64_t)random_below(3));
  sp_received_sample sample = {.labels = labels,
                               .span_id = 1 + random_below(UINT64_MAX)};
  uint32_t places[DEPTH_MAX], i;

  for (i = 0; i < depth; i++)
    places[depth - 1 - i] = location_add(
        profile, i < SHARED ? 10 * i + random_below(1 + i) * random_below(2)
                            : random_below(1 + random_below(FUNCTIONS)));
  sample.stack = sp_received_add_stack(profile, places, depth);
  sp_received_add_sample(profile, &sample, &value);
  *sum += value;
}

static sp_received *profile_make(uint32_t application, uint32_t stacks,
                                 int64_t time_ns, int64_t *sum) {
  sp_received_pair pairs[2], span[1];
  sp_received *profile;
  uint32_t i, labels[4];

  check(sp_received_new(&profile, &sp_mem_default, PROFILE_MAX), "profile");
  sp_received_add_type(profile, "cpu", "nanoseconds");
  profile->period_type = profile->types[0];
  profile->period = 10000000;
  profile->time_ns = time_ns;
  profile->duration_ns = STEP_NS;
  pairs[0] = (sp_received_pair){text_add(profile, "__name__", 0),
                                text_add(profile, "process_cpu", 0)};
  pairs[1] = (sp_received_pair){text_add(profile, "service_name", 0),
                                text_add(profile, "app-%llu", application)};
  profile->series = sp_received_add_labels(profile, pairs, 2);
  for (i = 0; i < SP_COUNT_OF(labels); i++) {
    span[0] = (sp_received_pair){text_add(profile, "span_name", 0),
                                 text_add(profile, "GET /%llu", i)};
    labels[i] = sp_received_add_labels(profile, span, 1);
  }
  for (i = 0; i < stacks; i++)
    sample_add(profile, labels[i % SP_COUNT_OF(labels)], sum);
  check(sp_received_status(profile), "samples");
  return profile;
}

int main(int argc, char **argv) {
  sp_store_options options = {.mem = &sp_mem_default,
                              .clock = sp_clock_system()};
  int64_t sum = 0, first_ns;
  sp_store *store;
  uint32_t i, k, stacks;
  char path[4096];
  sp_log log;

  if (argc != 3 || (stacks = (uint32_t)strtoul(argv[2], NULL, 10)) == 0) {
    fprintf(stderr, "usage: %s DIRECTORY STACKS\n", argv[0]);
    return 2;
  }
  first_ns = (int64_t)sp_clock_unix_ns(options.clock) - STEP_NS * PROFILES;
  stacks = (stacks + APPLICATIONS * PROFILES - 1) / (APPLICATIONS * PROFILES);
  sp_log_init(&log, NULL, NULL, SPANPROF_LOG_OFF, options.clock);
  options.log = &log;
  snprintf(path, sizeof path, "%s/spanprof.db", argv[1]);
  options.path = path;
  check(sp_store_open(&store, &options), "open");
  for (i = 0; i < PROFILES; i++) {
    for (k = 0; k < APPLICATIONS; k++) {
      const sp_received *one =
          profile_make(k, stacks, first_ns + STEP_NS * i + k, &sum);

      check(sp_store_put(store, &one, 1, NULL), "put");
      sp_received_free((sp_received *)one);
    }
    if (i % 60 == 59)
      check(sp_store_compact(store), "compact");
  }
  sp_store_close(store);
  printf("{\"sum_ns\": %lld, \"from_ms\": %lld}\n", (long long)sum,
         (long long)(first_ns / 1000000));
  return 0;
}
