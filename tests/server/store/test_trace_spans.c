/* The filters and sums of the spans of stored traces. */
#include "store_fixture.h"

typedef struct names_seen {
  int64_t count, sum;
} names_seen;

static bool sum_names(void *data, const sp_store_span_name *name) {
  names_seen *of = data;

  of->count++;
  of->sum += name->spans;
  return strcmp(name->name, "last") != 0;
}

static int64_t count_roots(sp_store *store, const sp_store_attribute *attribute,
                           bool with_errors) {
  const sp_store_span_filter filter = {.roots_only = true,
                                       .with_errors = with_errors,
                                       .attributes = attribute,
                                       .attribute_count = attribute != NULL};
  int64_t count = -1;

  CHECK(!sp_store_span_count(store, &filter, &count));
  return count;
}

/* The root has no error and no attributes of its own. */
static const sp_store_span spans_to_filter[] = {
    {.trace_id = {1, 1}, .span_id = 1, .name = "GET /", .service = "shop"},
    {.trace_id = {1, 1},
     .span_id = 2,
     .parent_id = 1,
     .name = "query",
     .service = "db",
     .status = 2,
     .attributes =
         "{\"http.route\":\"/cart\",\"n\":0.29999999999999999,\"ok\":true,"
         "\"a\\\"b\":\"c\\\\d\",\"list\":[\"x\"],\"resource\":{\"host\":\"h\"}"
         "}"},
    {.trace_id = {2, 2},
     .span_id = 3,
     .name = "GET /",
     .service = "shop",
     .attributes = "{\"other\":\"/cart\",\"http.route\":\"/\"}"},
    {.trace_id = {3, 3}, .span_id = 4, .name = "last", .service = "shop"},
};

static void traces_are_filtered_by_errors_and_attributes(void) {
  static const struct {
    sp_store_attribute attribute;
    int64_t traces;
  } cases[] = {
      {{"http.route", "/cart"}, 1},
      {{"http.route", "/ca"}, 0},
      {{"http.route", NULL}, 2},
      {{"http.rout", NULL}, 0},
      {{"n", "0.3"}, 1},
      {{"n", "0.4"}, 0},
      {{"ok", "true"}, 1},
      {{"ok", "1"}, 0},
      {{"a\"b", "c\\d"}, 1},
      {{"host", "h"}, 1},
      {{"list", "[\"x\"]"}, 1},
      {{"x", NULL}, 0},
  };
  const sp_store_span_filter all = {.roots_only = true};
  names_seen names = {0};
  sp_store *store;
  size_t i;

  fixture_begin();
  store = fixture_open();
  CHECK(!sp_store_put_spans(store, spans_to_filter, 4));
  CHECK_EQUAL(3, count_roots(store, NULL, false));
  CHECK_EQUAL(1, count_roots(store, NULL, true));
  for (i = 0; i < sizeof cases / sizeof *cases; i++)
    CHECK_EQUAL(cases[i].traces,
                count_roots(store, &cases[i].attribute, false));
  CHECK(!sp_store_span_names(store, &all, sum_names, &names));
  CHECK_EQUAL(2, names.count);
  CHECK_EQUAL(3, names.sum);
  sp_store_close(store);
  fixture_end();
}

/* A store of version 4 has no index of root spans. */
static void a_store_of_version_4_gets_an_index_of_roots(void) {
  sp_store *store;

  fixture_begin();
  store = fixture_open();
  CHECK(!sp_store_put_spans(store, spans_to_filter, 4));
  sp_store_close(store);
  fixture_run("DROP INDEX span_root; PRAGMA user_version=4;");
  store = fixture_open();
  CHECK_EQUAL(5, fixture_number("PRAGMA user_version"));
  CHECK_EQUAL(1, fixture_number("SELECT count(*) FROM sqlite_master WHERE "
                                "name='span_root'"));
  CHECK_EQUAL(3, count_roots(store, NULL, false));
  sp_store_close(store);
  fixture_end();
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"traces_are_filtered_by_errors_and_attributes",
       traces_are_filtered_by_errors_and_attributes},
      {"a_store_of_version_4_gets_an_index_of_roots",
       a_store_of_version_4_gets_an_index_of_roots},
  };

  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
