/* All operations of a store in several threads at the same time: uploads,
 * queries of each kind, traces, documents, compaction by several threads,
 * retention and the deletion of unused names. The test is intended for
 * ThreadSanitizer, but also useful without it. SPANPROF_STRESS_SECONDS is its
 * duration, by default 2. */
#include "store_fixture.h"

#include <pthread.h>

#define THREADS_WRITERS 3
#define THREADS_READERS 2
#define THREADS_HOUR_NS (3600 * FIXTURE_SECOND)

static struct {
  sp_store *store;
  int64_t now_ns;
  atomic_bool ending;
  atomic_llong put;     /* number of profiles that are stored */
  atomic_llong started; /* number of profiles whose storing has begun */
} threads;

static bool threads_go(void) {
  return !atomic_load(&threads.ending);
}

/* Store profiles of the last 20 minutes, which the retention does not
 * delete. */
static void *threads_write(void *argument) {
  const sp_trace_id trace = {1, (uintptr_t)argument};
  char frames[64];

  while (threads_go()) {
    const int64_t number = atomic_fetch_add(&threads.started, 1);
    sp_received *profile = fixture_profile(
        number % 2 ? "shop" : "stock",
        threads.now_ns - number % 1200 * FIXTURE_SECOND - number / 1200);

    snprintf(frames, sizeof frames, "main;work_%d;part_%d", (int)number % 7,
             (int)number % 101);
    fixture_sample(profile, frames, "GET /", (uint64_t)number + 1, trace, 1);
    fixture_put(threads.store, profile);
    atomic_fetch_add(&threads.put, 1);
  }
  return NULL;
}

/* Store profiles older than the retention, which are deleted. */
static void *threads_write_old(void *argument) {
  int64_t number = 0;
  char frames[64];

  (void)argument;
  while (threads_go()) {
    sp_received *profile =
        fixture_profile("old", threads.now_ns - 30 * THREADS_HOUR_NS + number);
    const sp_store_span span = {.trace_id = {2, (uint64_t)number},
                                .span_id = 7,
                                .name = "GET /old",
                                .service = "old",
                                .start_ns = profile->time_ns,
                                .status_message = "",
                                .attributes = "{}"};

    snprintf(frames, sizeof frames, "old_%d;part_%d", (int)number,
             (int)number % 101);
    fixture_sample(profile, frames, NULL, 0, (sp_trace_id){0, 0}, 1);
    fixture_put(threads.store, profile);
    CHECK(!sp_store_put_spans(threads.store, &span, 1));
    number++;
    usleep(1000);
  }
  return NULL;
}

static bool threads_count(void *data, const sp_store_point *point) {
  *(int64_t *)data += point->value;
  return true;
}

static bool threads_series(void *data, const sp_text_pairs *labels) {
  (void)data;
  return labels->count > 0;
}

static bool threads_span(void *data, const sp_store_span *span) {
  (void)data;
  return span->name != NULL;
}

/* Check that each query returns all profiles that were stored before it began,
 * and none whose storing began after it ended. */
static void *threads_read(void *argument) {
  const sp_matcher no_old = {
      .kind = SP_MATCH_UNEQUAL, .name = "service_name", .value = "old"};
  const sp_store_span_filter spans = {.limit = 5};
  sp_selector selector = fixture_all();
  sp_store_stats stats;
  int64_t before, sum;

  (void)argument;
  selector.matchers = &no_old;
  selector.matcher_count = 1;
  while (threads_go()) {
    before = atomic_load(&threads.put);
    sum = fixture_sum(threads.store, &selector, NULL);
    CHECK(sum >= before && sum <= atomic_load(&threads.started));
    before = atomic_load(&threads.put);
    sum = 0;
    CHECK(!sp_store_points(threads.store, &selector, SP_STORE_POINT_PER_SPAN,
                           threads_count, &sum));
    CHECK(sum >= before && sum <= atomic_load(&threads.started));
    CHECK(!sp_store_series(threads.store, &selector, (sp_store_names){0},
                           threads_series, NULL));
    CHECK(!sp_store_spans(threads.store, &spans, threads_span, NULL));
    CHECK(!sp_store_get_stats(threads.store, &stats));
  }
  return NULL;
}

static void *threads_keep(void *argument) {
  (void)argument;
  while (threads_go()) {
    CHECK(!sp_store_compact(threads.store));
    CHECK(!sp_store_drop_old(threads.store));
    CHECK(!sp_store_collect(threads.store));
  }
  return NULL;
}

static void threads_do_not_disturb_each_other(void) {
  static void *(*const runs[])(void *) = {
      threads_write, threads_write,     threads_write, threads_read,
      threads_read,  threads_write_old, threads_keep,  threads_keep};
  const char *seconds = getenv("SPANPROF_STRESS_SECONDS");
  pthread_t started[SP_COUNT_OF(runs)];
  sp_selector selector = fixture_all();
  size_t i;

  fixture_begin();
  fixture_retention_ns = 24 * 3600 * SP_NS_PER_S;
  threads.now_ns = (int64_t)sp_clock_unix_ns(sp_clock_system());
  threads.store = fixture_open();
  for (i = 0; i < SP_COUNT_OF(runs); i++)
    CHECK(!pthread_create(&started[i], NULL, runs[i], (void *)i));
  usleep((useconds_t)((seconds ? atof(seconds) : 2) * 1e6));
  atomic_store(&threads.ending, true);
  for (i = 0; i < SP_COUNT_OF(runs); i++)
    pthread_join(started[i], NULL);
  CHECK(!sp_store_compact(threads.store));
  CHECK(!sp_store_drop_old(threads.store));
  CHECK(!sp_store_collect(threads.store));
  CHECK_EQUAL(atomic_load(&threads.put),
              fixture_sum(threads.store, &selector, NULL));
  sp_store_close(threads.store);
  threads.store = fixture_open();
  CHECK_EQUAL(atomic_load(&threads.put),
              fixture_sum(threads.store, &selector, NULL));
  sp_store_close(threads.store);
  fixture_end();
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"threads_do_not_disturb_each_other", threads_do_not_disturb_each_other},
  };

  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
