#include "util/memory/hash_index.h"

#include "check.h"
#include "failing_mem.h"

/* Many numbers have the same hash, and many hashes the same slot. */
static uint64_t hash_of(uint32_t number) {
  return number % 97 * 64;
}

static bool index_has(const sp_index *index, uint32_t number) {
  uint32_t at, found;

  for (found = sp_index_first(index, hash_of(number), &at);
       found != SP_INDEX_NONE;
       found = sp_index_next(index, hash_of(number), &at))
    if (found == number)
      return true;
  return false;
}

static void an_added_item_is_found_until_removed(void) {
  sp_index index = {0};
  uint32_t number;

  CHECK(!index_has(&index, 7));
  sp_index_remove(&index, hash_of(7), 7);
  for (number = 0; number < 5000; number++) {
    CHECK(!sp_index_reserve(&index, &sp_mem_default));
    sp_index_add(&index, hash_of(number), number);
  }
  for (number = 0; number < 5000; number += 2)
    sp_index_remove(&index, hash_of(number), number);
  sp_index_remove(&index, hash_of(0), 0);
  for (number = 0; number < 5000; number++)
    CHECK_EQUAL(index_has(&index, number), number % 2);
  CHECK_EQUAL(index.count, 2500);
  sp_index_clear(&index);
  CHECK(!index_has(&index, 1));
  sp_index_dispose(&index, &sp_mem_default);
}

static void capacity_for_many_is_reserved_in_one_step(void) {
  sp_index index = {0};
  const sp_index_slot *slots;
  uint32_t number;

  CHECK(!sp_index_reserve_more(&index, &sp_mem_default, 1000));
  slots = index.slots;
  for (number = 0; number < 1000; number++)
    sp_index_add(&index, hash_of(number), number);
  CHECK(!sp_index_reserve_more(&index, &sp_mem_default, 0));
  CHECK(index.slots == slots);
  sp_index_dispose(&index, &sp_mem_default);
}

/* After random additions and removals, the index has the same content as a
 * plain array. */
static void index_matches_an_array_after_random_changes(void) {
  static bool expected[1024];
  sp_index index = {0};
  uint32_t random = 12345, step, number;

  for (step = 1; step < 200000; step++) {
    random = random * 1664525 + 1013904223;
    number = (random >> 8) % 1024;
    if (random & 1 && !expected[number]) {
      CHECK(!sp_index_reserve(&index, &sp_mem_default));
      sp_index_add(&index, hash_of(number), number);
      expected[number] = true;
    } else if (!(random & 1)) {
      sp_index_remove(&index, hash_of(number), number);
      expected[number] = false;
    }
  }
  for (number = 0; number < 1024; number++)
    CHECK_EQUAL(index_has(&index, number), expected[number]);
  sp_index_dispose(&index, &sp_mem_default);
}

static void out_of_memory_is_reported(const sp_mem *mem) {
  sp_index index = {0};
  uint32_t number, added = 0;

  for (number = 0; number < 200; number++)
    if (!sp_index_reserve(&index, mem)) {
      sp_index_add(&index, hash_of(number), number);
      added++;
    }
  CHECK_EQUAL(index.count, added);
  for (number = 0; number < 200; number++)
    added -= index_has(&index, number);
  CHECK_EQUAL(added, 0);
  sp_index_dispose(&index, mem);
}

static void without_memory_the_index_is_unchanged(void) {
  failing_mem_sweep(out_of_memory_is_reported);
}

static const check_test tests[] = {
    {"an_added_item_is_found_until_removed",
     an_added_item_is_found_until_removed},
    {"capacity_for_many_is_reserved_in_one_step",
     capacity_for_many_is_reserved_in_one_step},
    {"index_matches_an_array_after_random_changes",
     index_matches_an_array_after_random_changes},
    {"without_memory_the_index_is_unchanged",
     without_memory_the_index_is_unchanged},
};

int main(int argc, char **argv) {
  return check_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
