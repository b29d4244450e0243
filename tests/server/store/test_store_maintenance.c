/* Maintenance deletes names without profiles, and the oldest data if the files
 * become too large. */
#include "store_fixture.h"

#include "test_clock.h"

#include <sys/stat.h>

static const sp_trace_id no_trace = {0, 0};

static int64_t now_ns(void) {
  return (int64_t)sp_clock_unix_ns(sp_clock_system());
}

static void put(sp_store *store, const char *service, int64_t time_ns,
                const char *frames, const char *name) {
  sp_received *profile = fixture_profile(service, time_ns);

  fixture_sample(profile, frames, name, name ? 7 : 0, no_trace, 1);
  fixture_put(store, profile);
}

/* Store spans that start one second apart. */
static void put_spans(sp_store *store, uint64_t count, const char *name,
                      int64_t start_ns, const char *attributes) {
  static sp_store_span spans[3000];
  uint64_t number;

  CHECK(count <= SP_COUNT_OF(spans));
  for (number = 0; number < count; number++)
    spans[number] =
        (sp_store_span){.trace_id = {number * 0x9e3779b97f4a7c15u, 1},
                        .span_id = number + 1,
                        .name = name,
                        .service = "traced",
                        .start_ns = start_ns + (int64_t)number * FIXTURE_SECOND,
                        .status_message = "",
                        .attributes = attributes};
  CHECK(!sp_store_put_spans(store, spans, count));
}

/* Store profiles of two applications. Each profile has a stack of its own. */
static void put_gone(sp_store *store, int64_t time_ns) {
  static const sp_received *all[3000];
  char frames[64];
  size_t i;

  for (i = 0; i < SP_COUNT_OF(all); i++) {
    sp_received *profile =
        fixture_profile(i % 2 ? "shop" : "closed", time_ns + (int64_t)i);

    snprintf(frames, sizeof frames, "main;shared;gone_%zu", i);
    fixture_sample(profile, frames, "GET /gone", 7, no_trace, 1);
    all[i] = profile;
  }
  CHECK(!sp_store_put(store, all, SP_COUNT_OF(all), NULL));
  for (i = 0; i < SP_COUNT_OF(all); i++)
    sp_received_free((sp_received *)(uintptr_t)all[i]);
}

static void names_without_profiles_are_collected(void) {
  const sp_selector selector = fixture_all();
  const int64_t now = now_ns();
  sp_store *store;
  int i;

  fixture_begin();
  fixture_retention_ns = 3600 * SP_NS_PER_S;
  store = fixture_open();
  put_spans(store, 1, "GET /kept", now, "{}");
  /* These profiles need more than one transaction to be deleted. */
  put_gone(store, now - 7200 * FIXTURE_SECOND);
  for (i = 0; i < 3; i++)
    put(store, "shop", now + i, "main;shared;kept", "GET /shop");
  CHECK(!sp_store_compact(store));
  CHECK(!sp_store_drop_old(store));
  CHECK(!sp_store_collect(store));
  CHECK_EQUAL(3, fixture_number(FIXTURE_FRAMES));
  CHECK_EQUAL(3, fixture_number("SELECT count(*) FROM location"));
  CHECK_EQUAL(3, fixture_number("SELECT count(*) FROM function"));
  CHECK_EQUAL(1, fixture_number("SELECT count(*) FROM source"));
  CHECK_EQUAL(1, fixture_number("SELECT count(*) FROM series"));
  CHECK_EQUAL(0, fixture_number("SELECT count(*) FROM text WHERE text LIKE "
                                "'%gone%' OR text='closed'"));
  CHECK_EQUAL(2, fixture_number("SELECT count(*) FROM text WHERE text IN "
                                "('GET /kept', 'traced')"));
  CHECK_EQUAL(3, fixture_sum(store, &selector, "kept"));
  /* A stack that was deleted can be stored again, also as the caller of a new
   * frame. */
  put(store, "closed", now, "main;shared;gone_1;new", "GET /gone");
  CHECK_EQUAL(1, fixture_sum(store, &selector, "new"));
  CHECK(!sp_store_collect(store));
  sp_store_close(store);
  store = fixture_open();
  CHECK_EQUAL(1, fixture_sum(store, &selector, "new"));
  CHECK_EQUAL(4, fixture_sum(store, &selector, NULL));
  sp_store_close(store);
  fixture_end();
}

static bool count_span(void *data, const sp_store_span *span) {
  int64_t *oldest = data;

  if (span->start_ns < *oldest)
    *oldest = span->start_ns;
  return true;
}

static int64_t used_bytes(void) {
  return fixture_number("SELECT (page_count-freelist_count)*page_size FROM "
                        "pragma_page_count, pragma_freelist_count, "
                        "pragma_page_size");
}

/* Store large spans that start one second apart, 50 at a time, as exporters
 * do. */
static void put_large_spans(sp_store *store, uint64_t count, int64_t start_ns) {
  static char attributes[4000];
  sp_store_span spans[50];
  uint64_t number;

  memset(attributes, 'x', sizeof attributes);
  memcpy(attributes, "{\"a\":\"", 6);
  memcpy(attributes + sizeof attributes - 3, "\"}", 3);
  for (number = 0; number < count; number++) {
    spans[number % 50] = (sp_store_span){
        .trace_id = {number * 0x9e3779b97f4a7c15u, (uint64_t)start_ns},
        .span_id = number + 1,
        .name = "GET /",
        .service = "traced",
        .start_ns = start_ns + (int64_t)number * FIXTURE_SECOND,
        .status_message = "",
        .attributes = attributes};
    if (number % 50 == 49)
      CHECK(!sp_store_put_spans(store, spans, 50));
  }
}

static void the_limit_of_bytes_holds_for_traces(void) {
  const sp_store_span_filter all = {.limit = 100000};
  const int64_t begin = now_ns() - 1500 * FIXTURE_SECOND;
  int64_t oldest = INT64_MAX, number;
  sp_store_stats stats;
  sp_store *store;

  fixture_begin();
  fixture_max_bytes = 4 << 20;
  store = fixture_open();
  put(store, "shop", begin + 1499 * FIXTURE_SECOND, "main", NULL);
  put_large_spans(store, 1500, begin);
  CHECK(!sp_store_drop_old(store));
  CHECK(used_bytes() <= (int64_t)fixture_max_bytes);
  /* The oldest spans are deleted. The latest ones and the profile remain. */
  CHECK(!sp_store_spans(store, &all, count_span, &oldest));
  CHECK(oldest > begin && oldest < begin + 1499 * FIXTURE_SECOND);
  number = fixture_number("SELECT count(*) FROM span");
  CHECK_EQUAL(1500 - (oldest - begin) / FIXTURE_SECOND, number);
  CHECK(!sp_store_get_stats(store, &stats));
  CHECK_EQUAL(1, stats.profiles);
  sp_store_close(store);
  fixture_end();
}

static void spans_of_a_wrong_clock_are_deleted_first(void) {
  const int64_t years = INT64_C(70) * 365 * 86400 * FIXTURE_SECOND;
  sp_store_stats stats;
  sp_store *store;
  int i;

  fixture_begin();
  fixture_max_bytes = 4 << 20;
  store = fixture_open();
  for (i = 0; i < 10; i++)
    put(store, "shop", now_ns() - i, "main", NULL);
  put_large_spans(store, 1500, now_ns() + years);
  CHECK(!sp_store_drop_old(store));
  CHECK(!sp_store_get_stats(store, &stats));
  CHECK_EQUAL(10, stats.profiles);
  CHECK(fixture_number("SELECT count(*) FROM span") < 1500);
  sp_store_close(store);
  fixture_end();
}

/* Most of the bytes are used by blocks of single profiles. All profiles fit
 * after compaction. */
static void profiles_are_compacted_before_they_are_deleted(void) {
  static const sp_received *all[4000];
  const int64_t now = now_ns();
  sp_store_stats stats;
  sp_store *store;
  size_t i;

  fixture_begin();
  store = fixture_open();
  for (i = 0; i < SP_COUNT_OF(all); i++) {
    sp_received *profile = fixture_profile("shop", now - (int64_t)i);

    fixture_sample(profile, "main;work", NULL, 0, no_trace, 10000000);
    all[i] = profile;
  }
  CHECK(!sp_store_put(store, all, SP_COUNT_OF(all), NULL));
  for (i = 0; i < SP_COUNT_OF(all); i++)
    sp_received_free((sp_received *)(uintptr_t)all[i]);
  sp_store_close(store);
  /* Allow three quarters of the used bytes, and the reserve and the log of a
   * small store. */
  fixture_max_bytes = (uint64_t)used_bytes() * 3 / 4 + (1792 << 10);
  store = fixture_open();
  CHECK(!sp_store_drop_old(store));
  CHECK(!sp_store_get_stats(store, &stats));
  CHECK_EQUAL(SP_COUNT_OF(all), stats.profiles);
  CHECK(stats.blocks > 0);
  sp_store_close(store);
  fixture_end();
}

/* A file of an earlier version cannot return its free pages. It is converted,
 * so that it can. */
static void a_file_of_an_earlier_version_returns_pages(void) {
  const sp_selector selector = fixture_all();
  struct stat info;
  sp_store *store;

  fixture_begin();
  store = fixture_open();
  put(store, "shop", now_ns(), "main", NULL);
  put_large_spans(store, 1000, now_ns() - 7200 * FIXTURE_SECOND);
  sp_store_close(store);
  fixture_run("PRAGMA auto_vacuum=NONE; VACUUM");
  CHECK_EQUAL(0, fixture_number("PRAGMA auto_vacuum"));
  fixture_retention_ns = 3600 * SP_NS_PER_S;
  store = fixture_open();
  CHECK_EQUAL(2, fixture_number("PRAGMA auto_vacuum"));
  CHECK(!sp_store_drop_old(store));
  CHECK(stat(fixture_path, &info) == 0);
  CHECK(info.st_size < 3 << 20);
  CHECK_EQUAL(1, fixture_sum(store, &selector, NULL));
  sp_store_close(store);
  fixture_end();
}

static void the_limit_of_bytes_holds_for_documents(void) {
  static char bytes[100000];
  sp_store_document document = {.bytes = bytes, .size = sizeof bytes};
  sp_store *store;
  char key[16];
  int count = 0, i;

  fixture_begin();
  fixture_max_bytes = 4 << 20;
  store = fixture_open();
  for (i = 0; i < 100; i++) {
    snprintf(key, sizeof key, "%d", i);
    document.kind = i ? "adhoc" : "settings";
    document.key = key;
    document.time_ms = i;
    CHECK(!sp_store_put_document(store, &document));
  }
  CHECK(!sp_store_drop_old(store));
  CHECK(!sp_store_documents(store, "adhoc", NULL, 0, 100,
                            fixture_count_document, &count));
  CHECK(count > 5 && count < 25);
  CHECK_EQUAL(99, fixture_number("SELECT max(time_ms) FROM document"));
  CHECK_EQUAL(1, fixture_number("SELECT count(*) FROM document WHERE "
                                "kind='settings'"));
  sp_store_close(store);
  fixture_end();
}

/* Return the properties of a file next to the store; all are zero if the file
 * does not exist. */
static struct stat info_of(const char *ending) {
  struct stat info = {0};
  char path[80];

  snprintf(path, sizeof path, "%s%s", fixture_path, ending);
  (void)stat(path, &info);
  return info;
}

/* The log is not truncated, because a reader never ends. */
static void the_limit_of_bytes_holds_for_the_log(void) {
  static char bytes[100000];
  sp_store_document document = {
      .kind = "settings", .key = "a", .bytes = bytes, .size = sizeof bytes};
  sqlite3_stmt *read;
  spanprof_status st = SPANPROF_OK;
  sp_store *store;
  sqlite3 *db;
  int i;

  fixture_begin();
  fixture_max_bytes = 8 << 20;
  store = fixture_open();
  put(store, "shop", now_ns(), "main", NULL);
  CHECK_EQUAL(SQLITE_OK, sqlite3_open(fixture_path, &db));
  CHECK_EQUAL(SQLITE_OK,
              sqlite3_prepare_v2(db, "SELECT id FROM block", -1, &read, NULL));
  CHECK_EQUAL(SQLITE_ROW, sqlite3_step(read));
  for (i = 0; !st && i < 200; i++)
    st = sp_store_put_document(store, &document);
  CHECK_EQUAL(SPANPROF_ERR_IO, st);
  CHECK(strstr(spanprof_last_error(), "while queries read") != NULL);
  CHECK(info_of("-wal").st_size < 2 << 20);
  sqlite3_finalize(read);
  for (i = 0; i < 200; i++)
    CHECK(!sp_store_put_document(store, &document));
  CHECK(info_of("-wal").st_size < 2 << 20);
  CHECK_EQUAL(1, fixture_number("SELECT count(*) FROM block"));
  sqlite3_close(db);
  sp_store_close(store);
  fixture_end();
}

static void names_of_deleted_profiles_are_deleted_first(void) {
  const int64_t begin = now_ns() - 3000 * FIXTURE_SECOND;
  static char frames[20000];
  sp_store *store;
  int i;

  fixture_begin();
  fixture_max_bytes = 8 << 20;
  store = fixture_open();
  memset(frames, 'x', sizeof frames - 1);
  for (i = 0; i < 600; i++) { /* the names of the first half need 12 MB in the
                               * file */
    snprintf(frames, 8, "f%06d", i);
    frames[7] = i < 300 ? 'x' : '\0';
    put(store, "shop", begin + i, frames, NULL);
  }
  CHECK(!sp_store_drop_old(store));
  CHECK(fixture_number("SELECT sum(profiles) FROM block") > 300);
  CHECK(used_bytes() <= (int64_t)fixture_max_bytes);
  sp_store_close(store);
  fixture_end();
}

typedef struct leaping_clock {
  /* Must be the first member, because functions of test_clock get a pointer to
   * it. */
  test_clock test;
  _Atomic uint64_t leapt_ns;
} leaping_clock;

static uint64_t leaping_unix(void *data) {
  leaping_clock *clock = data;

  return test_clock_unix(&clock->test) + clock->leapt_ns;
}

static void a_clock_that_jumps_and_is_set_back_deletes_nothing(void) {
  static leaping_clock clock;
  sp_store_options options = {.mem = &sp_mem_default,
                              .clock = &clock.test.clock,
                              .log = &fixture_log,
                              .path = fixture_path,
                              .retention_ns = 3600 * SP_NS_PER_S};
  const uint64_t years = UINT64_C(100000) * 3600 * SP_NS_PER_S;
  sp_store *store;

  fixture_begin();
  test_clock_init(&clock.test, 1);
  clock.test.clock.unix_ns = leaping_unix;
  CHECK(!sp_store_open(&store, &options));
  put(store, "shop", now_ns(), "main", NULL);
  test_clock_pass(&clock.test, 60 * SP_NS_PER_S);
  clock.leapt_ns = years;
  test_clock_pass(&clock.test, 300 * SP_NS_PER_S);
  clock.leapt_ns = 0;
  test_clock_pass(&clock.test, 1800 * SP_NS_PER_S);
  CHECK_EQUAL(1, fixture_number("SELECT count(*) FROM block"));
  /* If the clock is not set back, its time is accepted as the right one. */
  clock.leapt_ns = years;
  test_clock_pass(&clock.test, 900 * SP_NS_PER_S);
  CHECK_EQUAL(0, fixture_number("SELECT count(*) FROM block"));
  sp_store_close(store);
  fixture_end();
}

static void only_the_owner_may_read_the_files(void) {
  static const char *const endings[] = {"", "-wal", "-shm", ".lock"};
  const mode_t before = umask(022);
  sp_store *store;
  size_t i;

  fixture_begin();
  store = fixture_open();
  put(store, "shop", now_ns(), "main", NULL);
  for (i = 0; i < SP_COUNT_OF(endings); i++)
    CHECK_EQUAL(0600, info_of(endings[i]).st_mode & 0777);
  sp_store_close(store);
  umask(before);
  fixture_end();
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"names_without_profiles_are_collected",
       names_without_profiles_are_collected},
      {"the_limit_of_bytes_holds_for_traces",
       the_limit_of_bytes_holds_for_traces},
      {"spans_of_a_wrong_clock_are_deleted_first",
       spans_of_a_wrong_clock_are_deleted_first},
      {"profiles_are_compacted_before_they_are_deleted",
       profiles_are_compacted_before_they_are_deleted},
      {"a_file_of_an_earlier_version_returns_pages",
       a_file_of_an_earlier_version_returns_pages},
      {"the_limit_of_bytes_holds_for_documents",
       the_limit_of_bytes_holds_for_documents},
      {"the_limit_of_bytes_holds_for_the_log",
       the_limit_of_bytes_holds_for_the_log},
      {"names_of_deleted_profiles_are_deleted_first",
       names_of_deleted_profiles_are_deleted_first},
      {"a_clock_that_jumps_and_is_set_back_deletes_nothing",
       a_clock_that_jumps_and_is_set_back_deletes_nothing},
      {"only_the_owner_may_read_the_files", only_the_owner_may_read_the_files},
  };

  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
