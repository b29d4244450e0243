#include "sampler/ring.h"

#include <pthread.h>
#include <sched.h>

#include "check.h"

static void what_is_committed_is_read_in_order(void) {
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

static void taken_shards_are_busy_after_three_probes(void) {
  sp_ring *ring = sp_ring_new(4, 4096);
  sp_ring_claim held[3], claim;
  int i;

  for (i = 0; i < 3; i++)
    CHECK_EQUAL(sp_ring_reserve(ring, 0, 8, &held[i]), SP_RING_OK);
  CHECK_EQUAL(sp_ring_reserve(ring, 0, 8, &claim), SP_RING_BUSY);
  CHECK_EQUAL(sp_ring_reserve(ring, 1, 8, &claim), SP_RING_OK);
  CHECK(sp_ring_busy(ring));
  sp_ring_commit(&claim, 8);
  for (i = 0; i < 3; i++)
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

static void clearing_frees_what_a_lost_writer_held(void) {
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

/* Writers count what they wrote and what was refused; every payload carries its
 * length and a pattern. */
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
      /* Or a reader without a core of its own never has its turn. */
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

static void racing_writers_lose_nothing_uncounted(void) {
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
    {"what_is_committed_is_read_in_order", what_is_committed_is_read_in_order},
    {"a_full_shard_refuses_and_recovers", a_full_shard_refuses_and_recovers},
    {"taken_shards_are_busy_after_three_probes",
     taken_shards_are_busy_after_three_probes},
    {"nothing_larger_than_half_a_shard_is_reserved",
     nothing_larger_than_half_a_shard_is_reserved},
    {"clearing_frees_what_a_lost_writer_held",
     clearing_frees_what_a_lost_writer_held},
    {"racing_writers_lose_nothing_uncounted",
     racing_writers_lose_nothing_uncounted},
};

int main(int argc, char **argv) {
  return check_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
