/* A selection uses memory only for data that matches, and stops soon after it
 * is cancelled, however large the store is. */
#include "store_fixture.h"

#include <stdlib.h>

/* Labels of each series, besides the one whose value is unique. */
#define WIDE_LABELS 255

static const sp_trace_id no_trace = {0, 0};

/* Store series with so many labels that the lists of labels alone would exceed
 * the memory limit of a query. */
static void put_wide(sp_store *store, const char *service, int64_t time_ns,
                     uint32_t first, uint32_t count) {
  sp_received_pair pairs[WIDE_LABELS + 1];
  const int64_t value = 1;
  sp_received *profile;
  uint32_t i;
  char text[24];

  CHECK(!sp_received_new(&profile, &sp_mem_default, (size_t)256 << 20));
  sp_received_add_type(profile, "cpu", "nanoseconds");
  profile->period_type = profile->types[0];
  profile->time_ns = time_ns;
  profile->series = fixture_labels(
      profile, (const char *const[][2]){{"service_name", service}}, 1);
  for (i = 0; i <= WIDE_LABELS; i++) {
    snprintf(text, sizeof text, "label_%05u", i);
    pairs[i].name = fixture_text(profile, text);
    pairs[i].value = fixture_text(profile, "same");
  }
  for (i = first; i < first + count; i++) {
    sp_received_sample sample = {0};

    snprintf(text, sizeof text, "value_%u", i);
    pairs[WIDE_LABELS].value = fixture_text(profile, text);
    sample.labels = sp_received_add_labels(profile, pairs, WIDE_LABELS + 1);
    sp_received_add_sample(profile, &sample, &value);
  }
  fixture_put(store, profile);
}

static bool count_one(void *data, const sp_text_pairs *labels) {
  (void)labels;
  ++*(int *)data;
  return true;
}

static spanprof_status count_series(sp_store *store,
                                    const sp_selector *selector, int *count) {
  *count = 0;
  return sp_store_series(store, selector, (sp_store_names){0}, count_one,
                         count);
}

static void series_that_do_not_match_use_no_memory(void) {
  sp_matcher matchers[] = {
      {.kind = SP_MATCH_EQUAL, .name = "service_name", .value = "shop"},
      {.kind = SP_MATCH_EQUAL, .name = "label_00255", .value = "value_13999"},
  };
  sp_selector selector = {.until_ms = INT64_MAX / 2000000};
  sp_received *profile;
  sp_store *store;
  int count;

  fixture_begin();
  store = fixture_open();
  put_wide(store, "wide", FIXTURE_TIME, 0, 7000);
  put_wide(store, "wide", FIXTURE_TIME + 1, 7000, 7000);
  profile = fixture_profile("shop", FIXTURE_TIME + 3600 * FIXTURE_SECOND);
  fixture_sample(profile, "main", "GET /", 7, no_trace, 1);
  fixture_put(store, profile);

  CHECK_EQUAL(SPANPROF_ERR_LIMIT, count_series(store, &selector, &count));
  /* Series of other applications use no memory. */
  selector.matchers = matchers;
  selector.matcher_count = 1;
  CHECK(!count_series(store, &selector, &count));
  CHECK_EQUAL(1, count);
  /* Series without the rare label use no memory. */
  selector.matchers = &matchers[1];
  CHECK(!count_series(store, &selector, &count));
  CHECK_EQUAL(1, count);
  /* Series of other hours use no memory. */
  selector.matcher_count = 0;
  selector.from_ms = FIXTURE_TIME / 1000000 + 1800000;
  CHECK(!count_series(store, &selector, &count));
  CHECK_EQUAL(1, count);
  sp_store_close(store);
  fixture_end();
}

/* An allocator that fails for an allocation larger than any that a query
 * needs. */
static void *small_resize(void *data, void *old, size_t size) {
  (void)data;
  if (size > (size_t)128 << 20)
    return NULL;
  if (size)
    return realloc(old, size);
  free(old);
  return NULL;
}

static void high_ids_of_texts_need_no_memory(void) {
  static const sp_mem small = {.resize = small_resize};
  sp_store_options options = {.mem = &small,
                              .clock = sp_clock_system(),
                              .log = &fixture_log,
                              .path = fixture_path};
  const sp_selector selector = fixture_all();
  sp_received *profile;
  sp_store *store;

  fixture_begin();
  sp_store_close(fixture_open());
  fixture_run("INSERT INTO text(id, text) VALUES(400000000, 'late')");
  CHECK(!sp_store_open(&store, &options));
  profile = fixture_profile("shop", FIXTURE_TIME);
  fixture_sample(profile, "main;work", "GET /", 7, no_trace, 5);
  fixture_put(store, profile);
  CHECK(fixture_number("SELECT id FROM text WHERE text='GET /'") > 400000000);
  CHECK_EQUAL(5, fixture_sum(store, &selector, "work"));
  sp_store_close(store);
  fixture_end();
}

static sp_cancel select_cancel;
static int select_left; /* number of texts that are matched before the query is
                         * cancelled */

static bool matches_until(const sp_matcher *matcher, const char *text,
                          size_t size) {
  (void)matcher;
  (void)text;
  (void)size;
  if (--select_left == 0)
    sp_cancel_because(&select_cancel, SP_CANCEL_CLIENT_GONE);
  return true;
}

static void a_selection_is_cancelled_amid_series_and_samples(void) {
  sp_matcher some = {.kind = SP_MATCH_REGEX,
                     .name = "span_name",
                     .value = ".*",
                     .matches = matches_until};
  sp_selector selector = fixture_all();
  sp_received *profile = fixture_profile("shop", FIXTURE_TIME);
  sp_stack_tree *tree;
  sp_store *store;
  char name[24];
  int count, i;

  fixture_begin();
  store = fixture_open();
  for (i = 0; i < 3000; i++) { /* all are in one block */
    snprintf(name, sizeof name, "GET /%d", i);
    fixture_sample(profile, "main", name, (uint64_t)i + 1, no_trace, 1);
  }
  fixture_put(store, profile);
  selector.cancel = &select_cancel;
  selector.matchers = &some;
  selector.matcher_count = 1;
  CHECK_EQUAL(3000, fixture_sum(store, &selector, NULL));
  select_left = 5;
  CHECK_EQUAL(SPANPROF_ERR_TIMEOUT, count_series(store, &selector, &count));
  CHECK_EQUAL(0, select_left);

  /* A query of one series with many samples is also cancelled. */
  select_cancel = (sp_cancel){0};
  profile = fixture_profile("mail", FIXTURE_TIME);
  for (i = 0; i < 3000; i++)
    fixture_sample(profile, "main", NULL, (uint64_t)i + 1, no_trace, 1);
  fixture_put(store, profile);
  some.name = "span_id";
  select_left = 1500;
  CHECK_EQUAL(SPANPROF_ERR_TIMEOUT, sp_store_stacks(store, &selector, &tree));
  CHECK_EQUAL(0, select_left);
  select_cancel = (sp_cancel){.deadline_ns = 1};
  CHECK_EQUAL(SPANPROF_ERR_TIMEOUT, sp_store_stacks(store, &selector, &tree));
  CHECK_EQUAL(SP_CANCEL_DEADLINE, atomic_load(&select_cancel.reason));
  sp_store_close(store);
  fixture_end();
}

static void ids_are_found_in_any_order(void) {
  static const uint64_t spans[] = {UINT64_C(0xffffffff00000007), 3, 900, 1};
  static const sp_trace_id traces[] = {{9, 1}, {0, 5}, {UINT64_MAX, 0}};
  sp_selector selector = fixture_all();
  sp_received *profile = fixture_profile("shop", FIXTURE_TIME);
  sp_store *store;

  fixture_begin();
  store = fixture_open();
  fixture_sample(profile, "main", NULL, spans[0], traces[0], 1);
  fixture_sample(profile, "main", NULL, 1, traces[2], 10);
  fixture_sample(profile, "main", NULL, 2, traces[1], 100);
  fixture_sample(profile, "main", NULL, 0, no_trace, 1000);
  fixture_sample(profile, "main", NULL, 900, no_trace, 10000);
  fixture_put(store, profile);
  selector.span_ids = spans;
  selector.span_count = SP_COUNT_OF(spans);
  CHECK_EQUAL(10011, fixture_sum(store, &selector, NULL));
  selector.trace_ids = traces;
  selector.trace_count = SP_COUNT_OF(traces);
  CHECK_EQUAL(11, fixture_sum(store, &selector, NULL));
  selector.span_count = 0;
  CHECK_EQUAL(111, fixture_sum(store, &selector, NULL));
  sp_store_close(store);
  fixture_end();
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"series_that_do_not_match_use_no_memory",
       series_that_do_not_match_use_no_memory},
      {"high_ids_of_texts_need_no_memory", high_ids_of_texts_need_no_memory},
      {"a_selection_is_cancelled_amid_series_and_samples",
       a_selection_is_cancelled_amid_series_and_samples},
      {"ids_are_found_in_any_order", ids_are_found_in_any_order},
  };

  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
