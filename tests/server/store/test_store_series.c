/* The limits of the number of series, and lists of labels that do not read all
 * series. */
#include "store_fixture.h"

static const sp_trace_id no_trace = {0, 0};

/* Store one sample for each of `count` span names, beginning with number
 * `first`. */
static void put_names(sp_store *store, const char *service, int first,
                      int count) {
  sp_received *profile =
      fixture_profile(service, FIXTURE_TIME + first * FIXTURE_SECOND);
  char name[32];
  int i;

  for (i = 0; i < count; i++) {
    snprintf(name, sizeof name, "GET /%s/%d", service, first + i);
    fixture_sample(profile, "main;work", name, 0, no_trace, 1);
  }
  fixture_put(store, profile);
}

static int64_t series_count(void) {
  return fixture_number("SELECT count(*) FROM series");
}

static int64_t sum_of(sp_store *store, const char *name, const char *value) {
  const sp_matcher matcher = {
      .name = name, .kind = SP_MATCH_EQUAL, .value = value};
  sp_selector selector = fixture_all();

  selector.matchers = &matcher;
  selector.matcher_count = 1;
  return fixture_sum(store, &selector, NULL);
}

static void excess_series_of_an_application_are_merged(void) {
  sp_store_stats stats;
  sp_store *store;

  fixture_begin();
  fixture_max_series_of_one = 10;
  store = fixture_open();
  put_names(store, "shop", 0, 8);
  put_names(store, "mail", 0, 3);
  CHECK_EQUAL(11, series_count());
  put_names(store, "shop", 8, 8); /* only 2 of them fit within the limit */
  put_names(store, "shop", 0, 16);
  CHECK_EQUAL(14, series_count());
  CHECK_EQUAL(32, sum_of(store, "service_name", "shop"));
  CHECK_EQUAL(12, sum_of(store, "span_name", "[other]"));
  CHECK_EQUAL(2, sum_of(store, "span_name", "GET /shop/9"));
  CHECK_EQUAL(0, sum_of(store, "span_name", "GET /shop/10"));
  /* The label values of series beyond the limit are not stored, either. */
  CHECK_EQUAL(0, fixture_number("SELECT count(*) FROM text WHERE text LIKE "
                                "'%shop/1_'"));
  CHECK(!sp_store_get_stats(store, &stats));
  CHECK_EQUAL(14, stats.series);
  CHECK_EQUAL(12, stats.other_series);
  sp_store_close(store);
  /* After a restart, the series in the file are counted again. Other
   * applications are not affected. */
  store = fixture_open();
  put_names(store, "shop", 16, 4);
  put_names(store, "mail", 3, 3);
  CHECK_EQUAL(17, series_count());
  CHECK_EQUAL(16, sum_of(store, "span_name", "[other]"));
  sp_store_close(store);
  fixture_end();
}

static void excess_applications_are_merged(void) {
  sp_store *store;
  char name[16];
  int i;

  fixture_begin();
  fixture_max_series = 5;
  store = fixture_open();
  for (i = 0; i < 20; i++) {
    snprintf(name, sizeof name, "app%d", i);
    put_names(store, name, i, 1);
  }
  CHECK_EQUAL(6, series_count());
  CHECK_EQUAL(6, fixture_number("SELECT count(*) FROM source"));
  CHECK_EQUAL(15, sum_of(store, "service_name", "[other]"));
  CHECK_EQUAL(1, sum_of(store, "service_name", "app4"));
  sp_store_close(store);
  fixture_end();
}

static void deleted_series_free_capacity(void) {
  sp_store *store;

  fixture_begin();
  fixture_max_series_of_one = 4;
  store = fixture_open();
  put_names(store, "shop", 0, 6);
  CHECK_EQUAL(5, series_count());
  fixture_run("DELETE FROM block");
  CHECK(!sp_store_collect(store));
  CHECK_EQUAL(0, series_count());
  put_names(store, "shop", 6, 3);
  CHECK_EQUAL(3, series_count());
  CHECK_EQUAL(0, sum_of(store, "span_name", "[other]"));
  sp_store_close(store);
  fixture_end();
}

typedef struct listed {
  int count;
  char last[64];
} listed;

static bool list_one(void *data, const sp_text_pairs *labels) {
  const char *type = sp_text_pairs_find(labels, "__profile_type__");
  listed *list = data;

  list->count++;
  snprintf(list->last, sizeof list->last, "%s", type ? type : "");
  return true;
}

static int list_of(sp_store *store, const sp_selector *selector,
                   const char *const *names, size_t count) {
  listed list = {0};

  CHECK(!sp_store_series(store, selector, (sp_store_names){names, count},
                         list_one, &list));
  CHECK(list.count == 0 || strcmp(FIXTURE_TYPE, list.last) == 0);
  return list.count;
}

static void equal_series_are_returned_once(void) {
  static const char *const types[] = {"service_name", "__profile_type__"};
  static const char *const spans[] = {"span_name"};
  const sp_matcher shop = {
      .name = "service_name", .kind = SP_MATCH_EQUAL, .value = "shop"};
  const sp_matcher span = {
      .name = "span_name", .kind = SP_MATCH_EQUAL, .value = "GET /shop/3"};
  sp_selector selector = fixture_all();
  sp_store *store;

  fixture_begin();
  store = fixture_open();
  put_names(store, "shop", 0, 50);
  put_names(store, "mail", 100, 5);
  CHECK_EQUAL(2, list_of(store, &selector, types, 2));
  CHECK_EQUAL(55, list_of(store, &selector, spans, 1));
  CHECK_EQUAL(55, list_of(store, &selector, NULL, 0));
  selector.matcher_count = 1;
  selector.matchers = &shop;
  CHECK_EQUAL(1, list_of(store, &selector, types, 2));
  selector.matchers = &span;
  CHECK_EQUAL(1, list_of(store, &selector, types, 2));
  /* Only series in the range of times are returned. */
  selector = fixture_all();
  selector.from_ms = (FIXTURE_TIME + 50 * FIXTURE_SECOND) / 1000000;
  CHECK_EQUAL(1, list_of(store, &selector, types, 2));
  selector.profile_type = "memory:alloc_space:bytes:space:bytes";
  CHECK_EQUAL(0, list_of(store, &selector, types, 2));
  sp_store_close(store);
  fixture_end();
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"excess_series_of_an_application_are_merged",
       excess_series_of_an_application_are_merged},
      {"excess_applications_are_merged", excess_applications_are_merged},
      {"deleted_series_free_capacity", deleted_series_free_capacity},
      {"equal_series_are_returned_once", equal_series_are_returned_once},
  };

  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
