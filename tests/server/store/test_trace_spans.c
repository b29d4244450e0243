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

/* The rows of the list of traces. */
typedef struct listed {
  int64_t count;
  uint64_t span_ids[8];
} listed;

static bool list_span(void *data, const sp_store_span *span) {
  listed *of = data;

  if (of->count < 8)
    of->span_ids[of->count] = span->span_id;
  of->count++;
  return true;
}

/* Check that the list of traces has exactly these spans, and that the list and
 * the number of its rows agree. */
static void check_listed(sp_store *store, sp_store_span_filter filter,
                         const uint64_t *span_ids, int64_t count) {
  names_seen names = {0};
  int64_t counted = -1, i;
  listed rows = {0};

  filter.roots_only = true;
  CHECK(!sp_store_spans(store, &filter, list_span, &rows));
  CHECK_EQUAL(count, rows.count);
  for (i = 0; i < count && i < 8; i++)
    CHECK_EQUAL(span_ids[i], rows.span_ids[i]);
  CHECK(!sp_store_span_count(store, &filter, &counted));
  CHECK_EQUAL(count, counted);
  CHECK(!sp_store_span_names(store, &filter, sum_names, &names));
  CHECK_EQUAL(count, names.sum);
}

static void put_span(sp_store *store, uint64_t trace, uint64_t span_id,
                     uint64_t parent_id, int64_t start_ns) {
  const sp_store_span span = {.trace_id = {trace, 7},
                              .span_id = span_id,
                              .parent_id = parent_id,
                              .start_ns = start_ns,
                              .duration_ns =
                                  start_ns < 1000 ? 1000 - start_ns : 0,
                              .name = "GET /",
                              .service = "shop"};

  CHECK(!sp_store_put_spans(store, &span, 1));
}

/* The earliest stored span represents a trace until the root arrives. */
static void a_trace_without_a_root_is_listed(void) {
  const sp_store_span_filter all = {0};
  const sp_trace_id one = {1, 7};
  sp_store *store;

  fixture_begin();
  store = fixture_open();
  put_span(store, 1, 11, 10, 200);
  check_listed(store, all, (uint64_t[]){11}, 1);
  put_span(store, 1, 13, 11, 300);
  check_listed(store, all, (uint64_t[]){11}, 1);
  put_span(store, 1, 12, 10, 100);
  check_listed(store, all, (uint64_t[]){12}, 1);
  put_span(store, 2, 20, 0, 150);
  check_listed(store, all, (uint64_t[]){20, 12}, 2);
  check_listed(store, (sp_store_span_filter){.order = SP_STORE_SPANS_SLOWEST},
               (uint64_t[]){12, 20}, 2);
  check_listed(store, (sp_store_span_filter){.from_ns = 120}, (uint64_t[]){20},
               1);
  check_listed(store, (sp_store_span_filter){.until_ns = 120}, (uint64_t[]){12},
               1);
  check_listed(store, (sp_store_span_filter){.service = "other"}, NULL, 0);
  check_listed(store,
               (sp_store_span_filter){.trace_ids = &one, .trace_count = 1},
               (uint64_t[]){12}, 1);
  put_span(store, 1, 10, 0, 50);
  check_listed(store, all, (uint64_t[]){20, 10}, 2);
  put_span(store, 1, 14, 10, 20); /* earlier than its root */
  check_listed(store, all, (uint64_t[]){20, 10}, 2);
  put_span(store, 1, 10, 9, 50); /* the root becomes a child */
  check_listed(store, all, (uint64_t[]){20, 14}, 2);
  put_span(store, 1, 14, 10, 400); /* the stand-in gets a later start */
  check_listed(store, all, (uint64_t[]){20, 10}, 2);
  sp_store_close(store);
  fixture_end();
}

/* Retention deletes a root before the later spans of its trace. */
static void a_trace_whose_root_was_deleted_is_listed(void) {
  const sp_store_span_filter all = {0};
  const int64_t now = (int64_t)sp_clock_unix_ns(sp_clock_system());
  const int64_t hour = 3600 * FIXTURE_SECOND;
  sp_store *store;

  fixture_begin();
  fixture_retention_ns = 10 * (uint64_t)hour;
  store = fixture_open();
  put_span(store, 1, 10, 0, now - 11 * hour);
  put_span(store, 1, 11, 10, now - 10 * hour - FIXTURE_SECOND);
  put_span(store, 1, 13, 10, now - hour);
  put_span(store, 1, 12, 10, now - 2 * hour);
  put_span(store, 2, 20, 19, now - 11 * hour + 2);
  put_span(store, 3, 30, 29, now - 11 * hour + 1);
  put_span(store, 3, 31, 29, now - 3 * hour);
  check_listed(store, all, (uint64_t[]){20, 30, 10}, 3);
  CHECK(!sp_store_drop_old(store));
  check_listed(store, all, (uint64_t[]){12, 31}, 2);
  sp_store_close(store);
  fixture_end();
}

/* A store of version 5 has no list of traces without a root. */
static void a_store_of_version_5_gets_traces_without_a_root(void) {
  sp_store *store;

  fixture_begin();
  store = fixture_open();
  put_span(store, 1, 11, 10, 200);
  put_span(store, 1, 12, 10, 100);
  put_span(store, 2, 20, 0, 300);
  put_span(store, 2, 21, 20, 10);
  sp_store_close(store);
  fixture_run("DROP INDEX span_trace_root; DROP TABLE rootless; PRAGMA "
              "user_version=5;");
  store = fixture_open();
  check_listed(store, (sp_store_span_filter){0}, (uint64_t[]){20, 12}, 2);
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
  fixture_run("DROP INDEX span_root; DROP INDEX span_trace_root; DROP TABLE "
              "rootless; PRAGMA user_version=4;");
  store = fixture_open();
  CHECK_EQUAL(6, fixture_number("PRAGMA user_version"));
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
      {"a_trace_without_a_root_is_listed", a_trace_without_a_root_is_listed},
      {"a_trace_whose_root_was_deleted_is_listed",
       a_trace_whose_root_was_deleted_is_listed},
      {"a_store_of_version_5_gets_traces_without_a_root",
       a_store_of_version_5_gets_traces_without_a_root},
      {"a_store_of_version_4_gets_an_index_of_roots",
       a_store_of_version_4_gets_an_index_of_roots},
  };

  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
