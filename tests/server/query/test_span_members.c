/* The set of pairs of a span and its row. */
#include "counting_mem.h"
#include "failing_mem.h"

#include <server/query/spans/span_members.h>
#include <util/memory/hash.h>

#define MEMBERS_MANY       1000000
#define MEMBERS_BYTES_EACH 20

typedef struct seen {
  sp_span_member last;
  size_t count;
  uint64_t sum; /* a checksum of the pairs */
} seen;

static uint64_t members_hash(uint64_t span_id, uint32_t row) {
  return sp_hash_mix(sp_hash_mix(SP_HASH_SEED, span_id), row);
}

static spanprof_status members_see(void *data, const sp_span_member *member) {
  seen *of = data;

  if (of->count)
    CHECK(of->last.span_id < member->span_id ||
          (of->last.span_id == member->span_id && of->last.row < member->row));
  of->last = *member;
  of->count++;
  of->sum += members_hash(member->span_id, member->row);
  return SPANPROF_OK;
}

/* Return pair number `i`. The ids of the pairs are close to each other if
 * `near`, or else spread over all values. Three consecutive pairs have the same
 * id, and some rows have large numbers. */
static sp_span_member members_pair(uint64_t i, bool near) {
  const uint64_t id = i / 3;

  return (sp_span_member){.span_id = near ? id : sp_hash_mix(SP_HASH_SEED, id),
                          .row = (uint32_t)(i % 3 * 15 + i % 3 / 2 * 70000)};
}

static void each_pair_is_returned_once_in_the_order_of_ids(void) {
  static const uint64_t counts[] = {0, 1, 3, 5000, 300000};
  size_t k;

  for (k = 0; k < 2 * SP_COUNT_OF(counts); k++) {
    const uint64_t count = counts[k / 2];
    sp_span_members members = {0};
    seen of = {0};
    uint64_t sum = 0, i;

    for (i = 0; i < 2 * count; i++) {
      const sp_span_member pair =
          members_pair(i < count ? i : 2 * count - 1 - i, k % 2);

      sum += i < count ? members_hash(pair.span_id, pair.row) : 0;
      CHECK(!sp_span_members_add(&members, &sp_mem_default, pair.span_id,
                                 pair.row));
    }
    CHECK(!sp_span_members_each(&members, &sp_mem_default, members_see, &of));
    CHECK_EQUAL(of.count, count);
    CHECK(of.sum == sum);
    sp_span_members_dispose(&members, &sp_mem_default);
  }
}

static void the_largest_ids_and_rows_are_stored(void) {
  static const sp_span_member pairs[] = {
      {0, 0}, {0, UINT32_MAX}, {UINT64_MAX, 31}, {UINT64_MAX, UINT32_MAX}};
  sp_span_members members = {0};
  seen of = {0};
  uint64_t sum = 0;
  size_t i;

  for (i = SP_COUNT_OF(pairs); i-- > 0;) {
    sum += members_hash(pairs[i].span_id, pairs[i].row);
    CHECK(!sp_span_members_add(&members, &sp_mem_default, pairs[i].span_id,
                               pairs[i].row));
  }
  CHECK(!sp_span_members_each(&members, &sp_mem_default, members_see, &of));
  CHECK_EQUAL(of.count, SP_COUNT_OF(pairs));
  CHECK(of.sum == sum);
  sp_span_members_dispose(&members, &sp_mem_default);
}

static void a_pair_needs_few_bytes(void) {
  counting_mem counting;
  sp_span_members members = {0};
  seen of = {0};
  uint64_t i;

  counting_mem_init(&counting);
  for (i = 0; i < MEMBERS_MANY; i++)
    CHECK(!sp_span_members_add(&members, &counting.mem,
                               sp_hash_mix(SP_HASH_SEED, i), i % 10));
  CHECK(!sp_span_members_each(&members, &counting.mem, members_see, &of));
  CHECK_EQUAL(of.count, MEMBERS_MANY);
  CHECK(counting.peak_bytes / MEMBERS_MANY < MEMBERS_BYTES_EACH);
  sp_span_members_dispose(&members, &counting.mem);
  CHECK_EQUAL(counting.bytes, 0);
}

static void members_scenario(const sp_mem *mem) {
  sp_span_members members = {0};
  seen of = {0};
  spanprof_status st = SPANPROF_OK;
  uint64_t i;

  for (i = 0; !st && i < 9000; i++)
    st = sp_span_members_add(&members, mem, i, 0);
  if (!st)
    st = sp_span_members_each(&members, mem, members_see, &of);
  CHECK(st == SPANPROF_ERR_NOMEM || (!st && of.count == 9000));
  sp_span_members_dispose(&members, mem);
}

static void running_out_of_memory_returns_an_error(void) {
  failing_mem_sweep(members_scenario);
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"each_pair_is_returned_once_in_the_order_of_ids",
       each_pair_is_returned_once_in_the_order_of_ids},
      {"the_largest_ids_and_rows_are_stored",
       the_largest_ids_and_rows_are_stored},
      {"a_pair_needs_few_bytes", a_pair_needs_few_bytes},
      {"running_out_of_memory_returns_an_error",
       running_out_of_memory_returns_an_error},
  };

  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
