/* Data in the store is found by time, series, span and trace, before and after
 * compaction and a restart. */
#include "store_fixture.h"

#include <sqlite3.h>

static const sp_trace_id no_trace = {0, 0};
static const sp_trace_id some_trace = {0x1111, 0x2222};

/* Store hours of three applications, with spans 1 to 40. */
static void fill(sp_store *store) {
  int64_t i;

  for (i = 0; i < 40; i++) {
    sp_received *profile = fixture_profile(
        i % 2 ? "shop" : "mail", FIXTURE_TIME + i * 10 * FIXTURE_SECOND);

    fixture_sample(profile, "main;work", "GET /", (uint64_t)i + 1,
                   i == 5 ? some_trace : no_trace, 10000000);
    fixture_sample(profile, "main;work;deep", "GET /", (uint64_t)i + 1,
                   no_trace, 20000000);
    fixture_sample(profile, "main", NULL, 0, no_trace, 70000000);
    fixture_put(store, profile);
  }
}

static bool count_series(void *data, const sp_text_pairs *labels) {
  CHECK_TEXT(FIXTURE_TYPE, sp_text_pairs_find(labels, "__profile_type__"));
  CHECK_TEXT("cpu", sp_text_pairs_find(labels, "__type__"));
  CHECK(sp_text_pairs_find(labels, "__service_name__") != NULL);
  ++*(int *)data;
  return true;
}

typedef struct points {
  int count;
  int64_t sum;
  sp_profile_uuid first;
  const char *name_is;
} points;

static bool add_point(void *data, const sp_store_point *point) {
  points *of = data;

  if (of->count++ == 0)
    of->first = point->profile;
  of->sum += point->value;
  return true;
}

/* Check the answers to queries, which must not depend on compaction. */
static void check_answers(sp_store *store) {
  const sp_matcher shop = {
      .kind = SP_MATCH_EQUAL, .name = "service_name", .value = "shop"};
  const sp_matcher span = {.kind = SP_MATCH_EQUAL,
                           .name = "profile_id",
                           .value = "0000000000000006"};
  const sp_matcher no_span = {
      .kind = SP_MATCH_EQUAL, .name = "span_id", .value = ""};
  const sp_matcher named = {
      .kind = SP_MATCH_UNEQUAL, .name = "span_name", .value = ""};
  const uint64_t spans[] = {3, 6, 999};
  sp_selector selector = fixture_all();
  points seen = {0};
  int series = 0;

  CHECK_EQUAL(40 * 100000000LL, fixture_sum(store, &selector, NULL));
  CHECK_EQUAL(40 * 20000000LL, fixture_sum(store, &selector, "deep"));
  CHECK(!sp_store_series(store, &selector, (sp_store_names){0}, count_series,
                         &series));
  CHECK_EQUAL(4, series);
  selector.matchers = &shop;
  selector.matcher_count = 1;
  CHECK_EQUAL(20 * 100000000LL, fixture_sum(store, &selector, NULL));
  selector.matchers = &span;
  CHECK_EQUAL(30000000, fixture_sum(store, &selector, NULL));
  selector.matchers = &no_span;
  CHECK_EQUAL(40 * 70000000LL, fixture_sum(store, &selector, NULL));
  selector.matchers = &named;
  CHECK_EQUAL(40 * 30000000LL, fixture_sum(store, &selector, NULL));
  CHECK(!sp_store_points(store, &selector, SP_STORE_POINT_PER_PROFILE,
                         add_point, &seen));
  CHECK_EQUAL(40, seen.count);
  selector.matcher_count = 0;
  selector.profiles = &seen.first;
  selector.profile_count = 1;
  /* The id of a profile selects all of its series. It has two, because its
   * samples have different labels. */
  CHECK_EQUAL(100000000, fixture_sum(store, &selector, NULL));
  selector.profile_count = 0;
  selector.span_ids = spans;
  selector.span_count = 3;
  CHECK_EQUAL(2 * 30000000, fixture_sum(store, &selector, NULL));
  seen = (points){0};
  CHECK(!sp_store_points(store, &selector, SP_STORE_POINT_PER_SPAN, add_point,
                         &seen));
  CHECK_EQUAL(3, seen.count); /* one for span 3, and two for span 6, with and
                               * without the trace */
  selector.span_count = 0;
  selector.trace_ids = &some_trace;
  selector.trace_count = 1;
  CHECK_EQUAL(10000000, fixture_sum(store, &selector, NULL));
  selector = fixture_all();
  selector.from_ms = FIXTURE_TIME / 1000000 + 10000;
  selector.until_ms = FIXTURE_TIME / 1000000 + 29999;
  CHECK_EQUAL(2 * 100000000LL, fixture_sum(store, &selector, NULL));
  selector.until_ms = selector.from_ms - 1;
  CHECK_EQUAL(0, fixture_sum(store, &selector, NULL));
}

static void queries_do_not_depend_on_compaction_or_restart(void) {
  sp_store_stats stats;
  sp_store *store;

  fixture_begin();
  store = fixture_open();
  fill(store);
  check_answers(store);
  sp_store_close(store);
  store = fixture_open();
  check_answers(store);
  CHECK(!sp_store_compact(store));
  CHECK(!sp_store_get_stats(store, &stats));
  CHECK_EQUAL(40, stats.profiles);
  CHECK(stats.blocks > 0);
  CHECK_EQUAL(FIXTURE_TIME, stats.oldest_ns);
  CHECK_EQUAL(FIXTURE_TIME + 390 * FIXTURE_SECOND, stats.newest_ns);
  check_answers(store);
  sp_store_close(store);
  fixture_end();
}

static void put_variant(sp_store *store, int64_t value, uint64_t span) {
  sp_received *profile = fixture_profile("shop", FIXTURE_TIME);

  fixture_sample(profile, "main", NULL, span, no_trace, value);
  fixture_put(store, profile);
}

static void an_equal_profile_counts_once(void) {
  sp_selector selector = fixture_all();
  sp_store_stats stats;
  sp_store *store;
  int round;

  fixture_begin();
  store = fixture_open();
  for (round = 0; round < 3; round++) {
    put_variant(store, 10, 1);
    put_variant(store, 10, 1);
    put_variant(store, 10, 2);
    put_variant(store, 20, 1);
    CHECK_EQUAL(40, fixture_sum(store, &selector, NULL));
    CHECK(!sp_store_compact(store));
  }
  CHECK(!sp_store_get_stats(store, &stats));
  CHECK_EQUAL(9, stats.repeated_profiles);
  sp_store_close(store);
  fixture_end();
}

static void samples_are_counted_by_their_period(void) {
  const sp_selector selector = fixture_all();
  sp_stack_tree *tree;
  sp_store *store;
  size_t i, found = 0, frames = 0;
  int round;

  fixture_begin();
  store = fixture_open();
  fill(store);
  for (round = 0; round < 2; round++) {
    int64_t value = 0, count = 0;

    CHECK(!sp_store_samples(store, &selector, &tree));
    for (i = 0; i < tree->sample_count; i++) {
      const sp_tree_sample *sample = &tree->samples[i];
      const sp_text_pairs *labels = &tree->label_sets[sample->label_set];

      value += sample->value;
      count += sample->count;
      frames += sample->node != 0;
      CHECK(sp_text_pairs_find(labels, "__type__") == NULL);
      CHECK(sp_text_pairs_find(labels, "service_name") != NULL);
      if (sample->span_id != 6)
        continue;
      CHECK_TEXT("GET /", sp_text_pairs_find(labels, "span_name"));
      found += sample->trace_hi == some_trace.hi ? sample->value : 0;
    }
    /* 40 spans with two stacks each, and one sample without a span for each of
     * two applications. */
    CHECK_EQUAL(82, tree->sample_count);
    CHECK_EQUAL(40 * INT64_C(100000000), value);
    CHECK_EQUAL(40 * 10, count);
    CHECK_EQUAL(FIXTURE_TIME, tree->begin_ns);
    sp_stack_tree_free(tree);
    CHECK(!sp_store_compact(store));
  }
  CHECK_EQUAL(2 * 82, frames);
  CHECK_EQUAL(2 * 10000000, found);
  sp_store_close(store);
  fixture_end();
}

/* Check the number of profiles in a selection, and of samples at its leaves. */
static void check_counts(sp_store *store, const sp_selector *selector,
                         uint64_t profiles, int64_t samples) {
  sp_stack_tree *tree;
  int64_t count = 0;
  size_t i;

  CHECK(!sp_store_stacks(store, selector, &tree));
  for (i = 0; i < tree->node_count; i++)
    count += tree->nodes[i].count;
  CHECK_EQUAL(profiles, tree->profile_count);
  CHECK_EQUAL(samples, count);
  sp_stack_tree_free(tree);
}

/* There are 10 profiles, each with a sample of 0.6 periods. One of these
 * samples has a span without a name, and another profile has a sample with a
 * named span. */
static void compaction_does_not_change_sample_counts(void) {
  const sp_matcher named = {
      .kind = SP_MATCH_EQUAL, .name = "span_name", .value = "GET /"};
  const sp_matcher unnamed = {
      .kind = SP_MATCH_EQUAL, .name = "span_name", .value = ""};
  const uint64_t span_id = 8;
  sp_selector all = fixture_all(), of_name = all, of_no_name = all,
              of_span = all;
  sp_store *store;
  int i, pass;

  of_name.matchers = &named;
  of_no_name.matchers = &unnamed;
  of_name.matcher_count = of_no_name.matcher_count = 1;
  of_span.span_ids = &span_id;
  of_span.span_count = 1;
  fixture_begin();
  store = fixture_open();
  for (i = 0; i < 10; i++) {
    sp_received *profile =
        fixture_profile("shop", FIXTURE_TIME + i * 10 * FIXTURE_SECOND);

    fixture_sample(profile, "main", NULL, i == 3 ? 8 : 0, no_trace, 6000000);
    if (i == 5)
      fixture_sample(profile, "main;work", "GET /", 7, no_trace, 20000000);
    fixture_put(store, profile);
  }
  for (pass = 0; pass < 2; pass++) {
    check_counts(store, &all, 10, 6 + 2);
    check_counts(store, &of_name, 1, 2);
    check_counts(store, &of_no_name, 10, 6);
    check_counts(store, &of_span, 1, 1);
    CHECK(!sp_store_compact(store));
    CHECK_EQUAL(1, fixture_number("SELECT count(*) FROM block"));
  }
  sp_store_close(store);
  fixture_end();
}

static void without_a_period_each_row_is_a_sample(void) {
  const sp_selector selector = fixture_all();
  sp_stack_tree *tree;
  sp_store *store;
  sqlite3 *db;
  int64_t value = 0, count = 0;
  size_t i;

  fixture_begin();
  store = fixture_open();
  fill(store);
  sp_store_close(store);
  CHECK(sqlite3_open(fixture_path, &db) == SQLITE_OK);
  /* Remove the period at the end of each source's key. As a zigzag varint,
   * 10000000 has four bytes. */
  CHECK(sqlite3_exec(db, "UPDATE source SET key=substr(key, 1, length(key)-4)",
                     NULL, NULL, NULL) == SQLITE_OK);
  sqlite3_close(db);
  store = fixture_open();
  CHECK(!sp_store_samples(store, &selector, &tree));
  for (i = 0; i < tree->sample_count; i++) {
    value += tree->samples[i].value;
    count += tree->samples[i].count;
  }
  CHECK_EQUAL(40 * INT64_C(100000000), value);
  CHECK_EQUAL(40 * 3, count);
  sp_stack_tree_free(tree);
  sp_store_close(store);
  fixture_end();
}

static void old_and_excess_data_is_deleted_and_counted(void) {
  const int64_t now = (int64_t)sp_clock_unix_ns(sp_clock_system());
  sp_selector selector = fixture_all();
  sp_store_stats stats;
  sp_store *store;
  int i;

  fixture_begin();
  fixture_retention_ns = 3600 * SP_NS_PER_S;
  fixture_max_bytes = 4 << 20; /* about 2 MiB of this are for the data */
  store = fixture_open();
  for (i = 0; i < 8; i++) {
    sp_received *profile =
        fixture_profile("shop", now - i * 1000 * FIXTURE_SECOND);

    fixture_sample(profile, "main", NULL, 0, no_trace, 1);
    fixture_put(store, profile);
  }
  CHECK(!sp_store_drop_old(store));
  CHECK_EQUAL(4, fixture_sum(store, &selector, NULL));
  for (i = 0; i < 20; i++) { /* large, because random ids do not compress */
    sp_received *profile = fixture_profile("mail", now - i - 1);
    uint64_t span;

    for (span = 1; span < 30000; span++)
      fixture_sample(profile, "main", NULL, span * 0x9e3779b97f4a7c15u,
                     no_trace, 1);
    fixture_put(store, profile);
  }
  CHECK(!sp_store_drop_old(store));
  CHECK(!sp_store_get_stats(store, &stats));
  CHECK(stats.profiles >= 2 && stats.profiles <= 12);
  CHECK_EQUAL(now, stats.newest_ns);
  CHECK_EQUAL(28, stats.profiles + stats.dropped_profiles);
  CHECK_EQUAL((int64_t)(stats.profiles - 1) * 29999 + 1,
              fixture_sum(store, &selector, NULL));
  sp_store_close(store);
  fixture_end();
}

static void a_full_disk_is_reported_and_writing_resumes(void) {
  sp_selector selector = fixture_all();
  spanprof_status st = SPANPROF_OK;
  int64_t kept = 0;
  sp_store *store;
  uint64_t span, seed;

  fixture_begin();
  fixture_pages_max = 60;
  store = fixture_open();
  for (seed = 1; !st && seed < 50; seed++) {
    sp_received *profile =
        fixture_profile("shop", FIXTURE_TIME + (int64_t)seed);
    const sp_received *const one = profile;

    for (span = 1; span < 5000; span++)
      fixture_sample(profile, "main", NULL, span * seed * 0x9e3779b97f4a7c15u,
                     no_trace, 1);
    st = sp_store_put(store, &one, 1, NULL);
    kept += st ? 0 : 4999;
    sp_received_free(profile);
  }
  CHECK_EQUAL(SPANPROF_ERR_IO, st);
  CHECK(strstr(spanprof_last_error(), "full") != NULL);
  CHECK_EQUAL(kept, fixture_sum(store, &selector, NULL));
  put_variant(store, 3, 0); /* a small profile still fits */
  CHECK_EQUAL(kept + 3, fixture_sum(store, &selector, NULL));
  sp_store_close(store);
  fixture_pages_max = 0;
  store = fixture_open();
  put_variant(store, 4, 0);
  CHECK_EQUAL(kept + 7, fixture_sum(store, &selector, NULL));
  sp_store_close(store);
  fixture_end();
}

static void a_store_in_use_or_newer_is_refused(void) {
  sp_store *store, *second;
  sqlite3 *db;

  fixture_begin();
  store = fixture_open();
  CHECK_EQUAL(SPANPROF_ERR_STATE, fixture_try_open(&second));
  CHECK(strstr(spanprof_last_error(), "another spanprof-server") != NULL);
  sp_store_close(store);
  CHECK_EQUAL(SQLITE_OK, sqlite3_open(fixture_path, &db));
  CHECK_EQUAL(SQLITE_OK,
              sqlite3_exec(db, "PRAGMA user_version=99", NULL, NULL, NULL));
  sqlite3_close(db);
  CHECK_EQUAL(SPANPROF_ERR_FORMAT, fixture_try_open(&second));
  CHECK(strstr(spanprof_last_error(), "newer") != NULL);
  fixture_end();
}

static void a_file_that_is_not_a_store_is_refused(void) {
  sp_store *store;
  FILE *file;

  fixture_begin();
  file = fopen(fixture_path, "w");
  fputs("this is the diary of someone, and not a data base at all", file);
  fclose(file);
  CHECK_EQUAL(SPANPROF_ERR_FORMAT, fixture_try_open(&store));
  CHECK(strstr(spanprof_last_error(), "not a spanprof store") != NULL);
  fixture_end();
}

static bool count_span(void *data, const sp_store_span *span) {
  points *of = data;

  of->count++;
  of->sum += span->duration_ns;
  of->name_is = strcmp(span->name, "GET /") == 0 ? "GET /" : "other";
  return true;
}

static void spans_of_traces_are_found(void) {
  const sp_store_span spans[] = {
      {.trace_id = some_trace,
       .span_id = 1,
       .name = "GET /",
       .service = "shop",
       .start_ns = 100,
       .duration_ns = 50,
       .attributes = "{}"},
      {.trace_id = some_trace,
       .span_id = 2,
       .parent_id = 1,
       .name = "query",
       .service = "db",
       .start_ns = 110,
       .duration_ns = 30},
      {.trace_id = {7, 7},
       .span_id = 3,
       .name = "GET /",
       .service = "shop",
       .start_ns = 200,
       .duration_ns = 10},
  };
  sp_store_span_filter filter = {.trace_ids = &some_trace, .trace_count = 1};
  points seen = {0};
  sp_store *store;

  fixture_begin();
  store = fixture_open();
  CHECK(!sp_store_put_spans(store, spans, 3));
  CHECK(!sp_store_put_spans(store, spans, 1)); /* again */
  CHECK(!sp_store_spans(store, &filter, count_span, &seen));
  CHECK_EQUAL(2, seen.count);
  CHECK_EQUAL(80, seen.sum);
  filter = (sp_store_span_filter){
      .service = "shop", .order = SP_STORE_SPANS_SLOWEST, .limit = 1};
  seen = (points){0};
  CHECK(!sp_store_spans(store, &filter, count_span, &seen));
  CHECK_EQUAL(1, seen.count);
  CHECK_EQUAL(50, seen.sum);
  CHECK_TEXT("GET /", seen.name_is);
  filter = (sp_store_span_filter){.from_ns = 105, .until_ns = 150};
  seen = (points){0};
  CHECK(!sp_store_spans(store, &filter, count_span, &seen));
  CHECK_EQUAL(30, seen.sum);
  sp_store_close(store);
  fixture_end();
}

static bool read_document(void *data, const sp_store_document *document) {
  memcpy(data, document->bytes, document->size);
  return true;
}

static void documents_are_replaced_and_removed(void) {
  sp_store_document document = {
      .kind = "settings", .key = "a", .time_ms = 5, .bytes = "one", .size = 4};
  char text[8] = "";
  sp_store *store;

  fixture_begin();
  store = fixture_open();
  CHECK(!sp_store_put_document(store, &document));
  document.bytes = "two";
  CHECK(!sp_store_put_document(store, &document));
  CHECK(
      !sp_store_documents(store, "settings", NULL, 0, 10, read_document, text));
  CHECK_TEXT("two", text);
  CHECK(!sp_store_remove_document(store, "settings", "a"));
  strcpy(text, "none");
  CHECK(
      !sp_store_documents(store, "settings", "a", 0, 10, read_document, text));
  CHECK_TEXT("none", text);
  sp_store_close(store);
  fixture_end();
}

static void only_annotations_expire(void) {
  const int64_t now_ms =
      (int64_t)(sp_clock_unix_ns(sp_clock_system()) / SP_NS_PER_MS);
  sp_store_document documents[] = {
      {.kind = "annotation", .key = "old", .time_ms = now_ms - 3601000},
      {.kind = "annotation", .key = "new", .time_ms = now_ms - 3500000},
      {.kind = "settings", .key = "old", .time_ms = now_ms - 3601000}};
  sp_store *store;
  int count = 0;
  size_t i;

  fixture_begin();
  fixture_retention_ns = 3600 * SP_NS_PER_S;
  store = fixture_open();
  for (i = 0; i < SP_COUNT_OF(documents); i++)
    CHECK(!sp_store_put_document(store, &documents[i]));
  CHECK(!sp_store_drop_old(store));
  CHECK(!sp_store_documents(store, "annotation", "old", 0, INT64_MAX,
                            fixture_count_document, &count));
  CHECK_EQUAL(0, count);
  CHECK(!sp_store_documents(store, "annotation", "new", 0, INT64_MAX,
                            fixture_count_document, &count));
  CHECK(!sp_store_documents(store, "settings", NULL, 0, INT64_MAX,
                            fixture_count_document, &count));
  CHECK_EQUAL(2, count);
  sp_store_close(store);
  fixture_end();
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"queries_do_not_depend_on_compaction_or_restart",
       queries_do_not_depend_on_compaction_or_restart},
      {"an_equal_profile_counts_once", an_equal_profile_counts_once},
      {"samples_are_counted_by_their_period",
       samples_are_counted_by_their_period},
      {"compaction_does_not_change_sample_counts",
       compaction_does_not_change_sample_counts},
      {"without_a_period_each_row_is_a_sample",
       without_a_period_each_row_is_a_sample},
      {"old_and_excess_data_is_deleted_and_counted",
       old_and_excess_data_is_deleted_and_counted},
      {"a_full_disk_is_reported_and_writing_resumes",
       a_full_disk_is_reported_and_writing_resumes},
      {"a_store_in_use_or_newer_is_refused",
       a_store_in_use_or_newer_is_refused},
      {"a_file_that_is_not_a_store_is_refused",
       a_file_that_is_not_a_store_is_refused},
      {"spans_of_traces_are_found", spans_of_traces_are_found},
      {"documents_are_replaced_and_removed",
       documents_are_replaced_and_removed},
      {"only_annotations_expire", only_annotations_expire},
  };

  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
