/* Compaction: each profile goes into exactly one block, with few page
 * writes. */
#include "store_fixture.h"

#include <pthread.h>
#include <server/store/maintenance/compact.h>
#include <sys/stat.h>

#define MINUTE (60 * FIXTURE_SECOND)

static const sp_trace_id no_trace = {0, 0};

static void put(sp_store *store, const char *service, int64_t time_ns) {
  sp_received *profile = fixture_profile(service, time_ns);

  fixture_sample(profile, "main;work", "GET /", 7, no_trace, 1);
  fixture_put(store, profile);
}

/* Store profiles in one transaction. Consecutive profiles belong to different
 * sources. (The profiles of a source have the same types, labels and period.)
 */
static void put_many(sp_store *store, const char *service, size_t sources,
                     int64_t time_ns, size_t count) {
  sp_received **profiles = calloc(count, sizeof *profiles);
  char name[16];
  size_t i;

  CHECK(profiles);
  for (i = 0; i < count; i++) {
    snprintf(name, sizeof name, "%s-%zu", service, i % sources);
    profiles[i] = fixture_profile(name, time_ns + (int64_t)i);
    fixture_sample(profiles[i], "main;work", NULL, 0, no_trace, 1);
  }
  CHECK(
      !sp_store_put(store, (const sp_received *const *)profiles, count, NULL));
  for (i = 0; i < count; i++)
    sp_received_free(profiles[i]);
  free(profiles);
}

static int64_t blocks(void) {
  return fixture_number("SELECT count(*) FROM block");
}

static off_t log_bytes(void) {
  char path[80];
  struct stat info;

  snprintf(path, sizeof path, "%s-wal", fixture_path);
  return stat(path, &info) ? 0 : info.st_size;
}

#define SOURCES 20
#define EACH    60

/* The profiles of 20 sources are interleaved, so compacting one source after
 * the other would write each page twenty times. */
static void interleaved_sources_are_compacted_together(void) {
  sp_selector all = fixture_all();
  int64_t bytes;
  sp_store *store;

  fixture_begin();
  store = fixture_open();
  put_many(store, "app", SOURCES, FIXTURE_TIME, SOURCES * EACH);
  bytes = fixture_number("SELECT page_count*page_size FROM pragma_page_count, "
                         "pragma_page_size");
  CHECK_EQUAL(SOURCES * EACH, blocks());
  fixture_run("PRAGMA wal_checkpoint(TRUNCATE)");
  CHECK_EQUAL(0, log_bytes());
  CHECK(!sp_store_compact(store));
  CHECK(log_bytes() > 0);
  CHECK(log_bytes() < 2 * bytes);
  CHECK_EQUAL(SOURCES, blocks());
  CHECK_EQUAL(SOURCES * EACH, fixture_sum(store, &all, "work"));
  sp_store_close(store);
  fixture_end();
}

static struct {
  sp_store *store;
  atomic_bool ending;
} sender;

#define SENDERS 4

static void *send_all_the_time(void *argument) {
  int64_t time_ns =
      FIXTURE_TIME + (int64_t)((uintptr_t)argument + 1) * FIXTURE_SECOND;

  for (; !atomic_load(&sender.ending); time_ns += 40)
    put_many(sender.store, "busy", 1, time_ns, 40);
  return NULL;
}

/* A pass of compaction ends although one of the compacted sources receives data
 * all the time. The other source, "quiet", has 50 profiles. No block of "busy"
 * can have 50, because it receives 7 profiles and then multiples of 40. */
static void a_busy_source_does_not_block_compaction(void) {
  pthread_t threads[SENDERS];
  uintptr_t i;

  fixture_begin();
  sender.store = fixture_open();
  put_many(sender.store, "busy", 1, FIXTURE_TIME, 7);
  put_many(sender.store, "quiet", 1, FIXTURE_TIME, 50);
  atomic_store(&sender.ending, false);
  for (i = 0; i < SENDERS; i++)
    CHECK(!pthread_create(&threads[i], NULL, send_all_the_time, (void *)i));
  CHECK(!sp_store_compact(sender.store));
  CHECK(!sp_store_compact(sender.store));
  atomic_store(&sender.ending, true);
  for (i = 0; i < SENDERS; i++)
    pthread_join(threads[i], NULL);
  CHECK_EQUAL(1,
              fixture_number("SELECT count(*) FROM block WHERE profiles=50"));
  sp_store_close(sender.store);
  fixture_end();
}

/* If there are too many profiles for one block, one call of sp_store_compact()
 * makes several blocks. */
static void an_hour_of_many_profiles_becomes_several_blocks(void) {
  sp_store *store;

  fixture_begin();
  store = fixture_open();
  put_many(store, "shop", 1, FIXTURE_TIME, 2100);
  CHECK(!sp_store_compact(store));
  CHECK_EQUAL(3, blocks());
  CHECK_EQUAL(2100, fixture_number("SELECT sum(profiles) FROM block"));
  sp_store_close(store);
  fixture_end();
}

/* A pass compacts the rows of an hour if there are enough of them, or if none
 * was added for a while. It does not read rows again that an earlier pass has
 * read. */
static void a_pass_reads_only_new_rows(void) {
  const int64_t now = (int64_t)sp_clock_unix_ns(sp_clock_system());
  sp_compact_seen seen = {0, 0}, later;
  sp_store *store;

  fixture_begin();
  store = fixture_open();
  put(store, "shop", now);
  put(store, "shop", now + 1);
  CHECK(!sp_compact(store, false, SP_COMPACT_PROFILES_MAX, &seen));
  /* Not compacted: there are only two rows, and they are too new. */
  CHECK_EQUAL(2, blocks());
  CHECK_EQUAL(2, seen.block);
  CHECK(seen.quiet_ns < now && seen.quiet_ns > now - 5 * MINUTE);

  put(store, "web", now - 60 * MINUTE);
  put(store, "web", now - 60 * MINUTE + 1);
  CHECK(!sp_compact(store, false, SP_COMPACT_PROFILES_MAX, &seen));
  CHECK_EQUAL(3, blocks()); /* compacted: no row was added for long enough */
  put(store, "web", now - 60 * MINUTE + 2);
  later = (sp_compact_seen){.block = 99, .quiet_ns = now - 30 * MINUTE};
  CHECK(!sp_compact(store, false, SP_COMPACT_PROFILES_MAX, &later));
  /* Not compacted: the previous pass has already read these rows. */
  CHECK_EQUAL(4, blocks());
  later = (sp_compact_seen){.block = 99, .quiet_ns = now - 90 * MINUTE};
  CHECK(!sp_compact(store, false, SP_COMPACT_PROFILES_MAX, &later));
  /* Compacted: no row was added since the previous pass. */
  CHECK_EQUAL(3, blocks());
  put(store, "web", now - 60 * MINUTE + 3);
  CHECK(!sp_compact(store, false, SP_COMPACT_PROFILES_MAX, &seen));
  CHECK_EQUAL(3, blocks()); /* compacted: the row is new */
  sp_store_close(store);
  fixture_end();
}

/* Store a profile whose samples have 64 types. Four such profiles have few
 * samples, but 80 MB of values. */
static void put_types(sp_store *store, int64_t time_ns) {
  sp_received *profile = fixture_profile("wide", time_ns);
  int64_t values[64];
  uint32_t i;
  char name[24];

  for (i = 1; i < SP_COUNT_OF(values); i++) {
    snprintf(name, sizeof name, "type_%u", i);
    sp_received_add_type(profile, name, "count");
  }
  for (i = 0; i < SP_COUNT_OF(values); i++)
    values[i] = i + 1;
  for (i = 0; i < 20000; i++) {
    sp_received_sample sample = {.span_id = i + 1};

    sp_received_add_sample(profile, &sample, values);
  }
  fixture_put(store, profile);
}

static void a_block_is_bounded_by_its_values(void) {
  sp_store *store;
  int i;

  fixture_begin();
  store = fixture_open();
  for (i = 0; i < 3; i++)
    put_types(store, FIXTURE_TIME + i);
  CHECK(!sp_store_compact(store));
  CHECK_EQUAL(3, blocks());
  sp_store_close(store);
  fixture_end();
}

static void the_last_possible_hour_is_compacted(void) {
  sp_store *store;

  fixture_begin();
  store = fixture_open();
  put(store, "shop", INT64_MAX);
  put(store, "shop", INT64_MAX - 1);
  CHECK(!sp_store_compact(store));
  CHECK_EQUAL(1, blocks());
  sp_store_close(store);
  fixture_end();
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"interleaved_sources_are_compacted_together",
       interleaved_sources_are_compacted_together},
      {"a_busy_source_does_not_block_compaction",
       a_busy_source_does_not_block_compaction},
      {"an_hour_of_many_profiles_becomes_several_blocks",
       an_hour_of_many_profiles_becomes_several_blocks},
      {"a_pass_reads_only_new_rows", a_pass_reads_only_new_rows},
      {"a_block_is_bounded_by_its_values", a_block_is_bounded_by_its_values},
      {"the_last_possible_hour_is_compacted",
       the_last_possible_hour_is_compacted},
  };

  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
