#include "sampler/handler/ring.h"

#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>

#include "check.h"

static void committed_payloads_are_read_in_order(void) {
  sp_ring *ring = sp_ring_new(1, 4096);
  sp_ring_claim claim;
  unsigned shard = 0;
  uint64_t n;
  size_t bytes;

  for (n = 0; n < 10; n++) {
    CHECK_EQUAL(sp_ring_reserve(ring, 0, 64, &claim), SP_RING_OK);
    memcpy(claim.payload, &n, sizeof n);
    sp_ring_commit(&claim, 16);
  }
  for (n = 0; n < 10; n++) {
    const uint64_t *payload = sp_ring_next(ring, &shard, &bytes);

    CHECK(payload && *payload == n);
    CHECK_EQUAL(bytes, 16);
    sp_ring_release(ring, shard);
  }
  CHECK(!sp_ring_next(ring, &shard, &bytes));
  sp_ring_free(ring);
}

static void a_full_shard_refuses_and_recovers(void) {
  sp_ring *ring = sp_ring_new(1, 4096);
  sp_ring_claim claim;
  unsigned shard = 0, taken = 0;
  size_t bytes;

  while (sp_ring_reserve(ring, 0, 500, &claim) == SP_RING_OK) {
    sp_ring_commit(&claim, 500);
    taken++;
  }
  CHECK_EQUAL(taken, 8);
  CHECK_EQUAL(sp_ring_reserve(ring, 0, 500, &claim), SP_RING_FULL);
  CHECK(sp_ring_next(ring, &shard, &bytes));
  sp_ring_release(ring, shard);
  CHECK_EQUAL(sp_ring_reserve(ring, 0, 400, &claim), SP_RING_OK);
  sp_ring_commit(&claim, 0);
  sp_ring_free(ring);
}

static void a_ring_is_busy_only_if_every_shard_is_acquired(void) {
  sp_ring *ring = sp_ring_new(4, 4096);
  sp_ring_claim held[4], claim;
  int i;

  for (i = 0; i < 4; i++)
    CHECK_EQUAL(sp_ring_reserve(ring, 2, 8, &held[i]), SP_RING_OK);
  CHECK_EQUAL(sp_ring_reserve(ring, 0, 8, &claim), SP_RING_BUSY);
  CHECK(sp_ring_busy(ring));
  for (i = 0; i < 4; i++)
    sp_ring_commit(&held[i], 8);
  CHECK(!sp_ring_busy(ring));
  sp_ring_free(ring);
}

static void nothing_larger_than_half_a_shard_is_reserved(void) {
  sp_ring *ring = sp_ring_new(1, 4096);
  sp_ring_claim claim;

  CHECK_EQUAL(sp_ring_reserve(ring, 0, 2048, &claim), SP_RING_FULL);
  CHECK_EQUAL(sp_ring_reserve(ring, 0, sp_ring_payload_max(ring), &claim),
              SP_RING_OK);
  sp_ring_commit(&claim, 0);
  sp_ring_free(ring);
}

static void clearing_releases_the_shard_of_a_lost_writer(void) {
  sp_ring *ring = sp_ring_new(1, 4096);
  sp_ring_claim claim;
  unsigned shard = 0;
  size_t bytes;

  CHECK_EQUAL(sp_ring_reserve(ring, 0, 8, &claim), SP_RING_OK);
  sp_ring_clear(ring);
  CHECK_EQUAL(sp_ring_reserve(ring, 0, 8, &claim), SP_RING_OK);
  sp_ring_commit(&claim, 8);
  CHECK(sp_ring_next(ring, &shard, &bytes));
  sp_ring_free(ring);
}

static void write_bytes(sp_ring *ring, size_t bytes, bool expected_call) {
  sp_ring_claim claim;

  CHECK_EQUAL(sp_ring_reserve(ring, 0, bytes, &claim), SP_RING_OK);
  memset(claim.payload, 1, bytes);
  CHECK_EQUAL(sp_ring_commit(&claim, bytes), expected_call);
}

static const void *read_next(sp_ring *ring) {
  const void *payload;
  unsigned shard = 0;
  size_t bytes;

  payload = sp_ring_next(ring, &shard, &bytes);
  CHECK(payload);
  sp_ring_release(ring, shard);
  return payload;
}

static void an_eighth_of_a_shard_wakes_the_reader(void) {
  sp_ring *ring = sp_ring_new(1, 8192);

  write_bytes(ring, 504, false);
  write_bytes(ring, 496, false);
  write_bytes(ring, 0, false);
  write_bytes(ring, 8, true);
  write_bytes(ring, 8, true);
  read_next(ring);
  write_bytes(ring, 8, false);
  sp_ring_free(ring);
}

static void an_empty_shard_is_written_from_its_start(void) {
  sp_ring *ring = sp_ring_new(1, 32768);
  const void *start;
  unsigned shard = 0;
  size_t bytes;
  int i;

  write_bytes(ring, 600, false);
  start = read_next(ring);
  CHECK(!sp_ring_next(ring, &shard, &bytes));
  for (i = 0; i < 100; i++) {
    write_bytes(ring, 600, false);
    write_bytes(ring, 600, false);
    CHECK(read_next(ring) == start);
    CHECK(read_next(ring) != start);
    shard = 0;
    CHECK(!sp_ring_next(ring, &shard, &bytes));
  }
  sp_ring_free(ring);
}

/* The number of resident pages of a shard, which is a part of the ring, from
 * the page of `payload` on. */
static size_t pages_resident(const void *payload, size_t pages) {
  char *start = (char *)((uintptr_t)payload & ~(uintptr_t)4095);
  unsigned char resident[SP_RING_SHARD_BYTES / 4096];
  size_t count = 0, i;

  CHECK_EQUAL(mincore(start, pages * 4096, resident), 0);
  for (i = 0; i < pages; i++)
    count += resident[i] & 1;
  return count;
}

static void memory_follows_the_fill_level_and_is_returned(void) {
  const size_t pages = SP_RING_SHARD_BYTES / 4096;
  const size_t chunk = SP_RING_SHARD_BYTES / 20;
  sp_ring *ring = sp_ring_new(1, SP_RING_SHARD_BYTES);
  const void *start;
  unsigned shard = 0;
  size_t ready, bytes, i;

  write_bytes(ring, 8, false);
  start = read_next(ring);
  CHECK(!sp_ring_next(ring, &shard, &bytes));
  ready = pages_resident(start, pages);
  CHECK(ready > 0 && ready < pages / 16);
  for (i = 0; i < 4; i++)
    write_bytes(ring, chunk, i >= 2);
  for (i = 0; i < 4; i++)
    read_next(ring);
  shard = 0;
  CHECK(!sp_ring_next(ring, &shard, &bytes));
  sp_ring_trim(ring);
  CHECK(pages_resident(start, pages) >= 4 * chunk / 4096);
  for (i = 0; i < 8; i++)
    write_bytes(ring, chunk, i >= 2);
  sp_ring_trim(ring);
  for (i = 0; i < 8; i++)
    read_next(ring);
  CHECK(pages_resident(start, pages) >= 8 * chunk / 4096);
  sp_ring_trim(ring);
  CHECK_EQUAL(pages_resident(start, pages), ready);
  write_bytes(ring, chunk, false);
  CHECK(read_next(ring) == start);
  sp_ring_free(ring);
}

static void unused_shards_use_no_memory(void) {
  const size_t pages = SP_RING_SHARD_BYTES / 4096;
  sp_ring *ring = sp_ring_new(2, SP_RING_SHARD_BYTES);
  const char *start;
  unsigned shard = 0;
  size_t bytes;

  write_bytes(ring, 8, false);
  start = read_next(ring);
  CHECK(!sp_ring_next(ring, &shard, &bytes));
  CHECK(pages_resident(start, pages) > 1);
  CHECK_EQUAL(pages_resident(start + SP_RING_SHARD_BYTES, pages), 0);
  sp_ring_free(ring);
}

static void more_cores_add_shards_of_the_same_size(void) {
  static const struct {
    long cores;
    unsigned shards;
  } rows[] = {{-1, 8}, {0, 8},   {1, 8},   {2, 8},   {4, 8},
              {5, 16}, {16, 32}, {32, 64}, {64, 64}, {1000, 64}};
  size_t i;

  for (i = 0; i < sizeof rows / sizeof rows[0]; i++)
    CHECK_EQUAL(sp_ring_shards(rows[i].cores), rows[i].shards);
}

/* Writers race with the reader. They count written and refused payloads. Every
 * payload contains its length and a pattern. */
#define RACE_WRITERS  4
#define RACE_PAYLOADS 40000

typedef struct race {
  sp_ring *ring;
  _Atomic uint64_t written;
  _Atomic uint64_t refused;
  _Atomic int running;
} race;

static void *race_write(void *data) {
  race *r = data;
  uint32_t seed = (uint32_t)(uintptr_t)&r;
  int i;

  for (i = 0; i < RACE_PAYLOADS; i++) {
    size_t words = 2 + (size_t)(i * 7919 % 60), w;
    sp_ring_claim claim;

    if (sp_ring_reserve(r->ring, seed + (uint32_t)i, words * 8, &claim)) {
      atomic_fetch_add(&r->refused, 1);
      /* Yield, because otherwise a reader that shares a core with writers would
       * never run. */
      sched_yield();
      continue;
    }
    for (w = 0; w < words; w++)
      ((uint64_t *)claim.payload)[w] = words * 1000 + w;
    sp_ring_commit(&claim, words * 8);
    atomic_fetch_add(&r->written, 1);
  }
  atomic_fetch_sub(&r->running, 1);
  return NULL;
}

static uint64_t race_read(race *r) {
  unsigned shard = 0;
  uint64_t count = 0;
  const uint64_t *payload;
  size_t bytes, w;

  while ((payload = sp_ring_next(r->ring, &shard, &bytes))) {
    for (w = 0; w < bytes / 8; w++)
      CHECK_EQUAL(payload[w], bytes / 8 * 1000 + w);
    sp_ring_release(r->ring, shard);
    count++;
  }
  return count;
}

static void racing_writers_count_every_loss(void) {
  race r = {.ring = sp_ring_new(4, 8192), .running = RACE_WRITERS};
  pthread_t writers[RACE_WRITERS];
  uint64_t count = 0;
  int i;

  for (i = 0; i < RACE_WRITERS; i++)
    CHECK_EQUAL(pthread_create(&writers[i], NULL, race_write, &r), 0);
  while (atomic_load(&r.running) > 0)
    count += race_read(&r);
  for (i = 0; i < RACE_WRITERS; i++)
    pthread_join(writers[i], NULL);
  count += race_read(&r);
  CHECK_EQUAL(count, atomic_load(&r.written));
  CHECK_EQUAL(atomic_load(&r.written) + atomic_load(&r.refused),
              RACE_WRITERS * RACE_PAYLOADS);
  CHECK(count > 1000);
  sp_ring_free(r.ring);
}

static const check_test tests[] = {
    {"committed_payloads_are_read_in_order",
     committed_payloads_are_read_in_order},
    {"a_full_shard_refuses_and_recovers", a_full_shard_refuses_and_recovers},
    {"a_ring_is_busy_only_if_every_shard_is_acquired",
     a_ring_is_busy_only_if_every_shard_is_acquired},
    {"nothing_larger_than_half_a_shard_is_reserved",
     nothing_larger_than_half_a_shard_is_reserved},
    {"clearing_releases_the_shard_of_a_lost_writer",
     clearing_releases_the_shard_of_a_lost_writer},
    {"an_eighth_of_a_shard_wakes_the_reader",
     an_eighth_of_a_shard_wakes_the_reader},
    {"an_empty_shard_is_written_from_its_start",
     an_empty_shard_is_written_from_its_start},
    {"memory_follows_the_fill_level_and_is_returned",
     memory_follows_the_fill_level_and_is_returned},
    {"unused_shards_use_no_memory", unused_shards_use_no_memory},
    {"more_cores_add_shards_of_the_same_size",
     more_cores_add_shards_of_the_same_size},
    {"racing_writers_count_every_loss", racing_writers_count_every_loss},
};

int main(int argc, char **argv) {
  return check_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
