#include "profile/tables/stack_table.h"

#include "failing_mem.h"

typedef struct fixture {
  sp_name_table names;
  sp_frame_table frames;
  sp_stack_table stacks;
} fixture;

static void open_tables(fixture *f, const sp_mem *mem) {
  sp_name_table_init(&f->names, mem);
  sp_frame_table_init(&f->frames, mem, &f->names, NULL);
  sp_stack_table_init(&f->stacks, mem, &f->frames);
}

static void close_tables(fixture *f) {
  sp_stack_table_dispose(&f->stacks);
  sp_frame_table_dispose(&f->frames);
  sp_name_table_dispose(&f->names);
}

static sp_frame method(uint64_t code) {
  return (sp_frame){SP_FRAME_RUNTIME, 0, code, 1};
}

static void found_only_after_it_was_added(void) {
  const sp_frame stack[] = {method(1), method(2), method(1)};
  const uint64_t hash = sp_stack_table_hash(stack, 3);
  uint32_t number;
  fixture f;

  open_tables(&f, &sp_mem_default);
  CHECK_EQUAL(sp_stack_table_find(&f.stacks, stack, 3, hash), SP_INDEX_NONE);
  CHECK_EQUAL(sp_stack_table_add(&f.stacks, stack, 3, hash, &number),
              SPANPROF_OK);
  CHECK_EQUAL(sp_stack_table_find(&f.stacks, stack, 3, hash), number);
  CHECK_EQUAL(f.frames.location_count, 2);
  CHECK_EQUAL(f.stacks.frames[0], f.stacks.frames[2]);
  close_tables(&f);
}

static void order_and_depth_distinguish_stacks(void) {
  const sp_frame stack[] = {method(1), method(2), method(3)};
  const sp_frame other[] = {method(2), method(1), method(3)};

  CHECK(sp_stack_table_hash(stack, 3) != sp_stack_table_hash(other, 3));
  CHECK(sp_stack_table_hash(stack, 3) != sp_stack_table_hash(stack, 2));
}

/* Stacks with equal hashes are different if their frames are. */
static void stacks_with_equal_hashes_are_distinguished(void) {
  uint32_t numbers[100], i;
  fixture f;

  open_tables(&f, &sp_mem_default);
  for (i = 0; i < 100; i++) {
    const sp_frame stack[] = {method(i), method(i / 2)};

    CHECK_EQUAL(sp_stack_table_add(&f.stacks, stack, 1 + i % 2, 7, &numbers[i]),
                SPANPROF_OK);
  }
  for (i = 0; i < 100; i++) {
    const sp_frame stack[] = {method(i), method(i / 2)};

    CHECK_EQUAL(sp_stack_table_find(&f.stacks, stack, 1 + i % 2, 7),
                numbers[i]);
    CHECK_EQUAL(sp_stack_table_find(&f.stacks, stack, 2 - i % 2, 7),
                SP_INDEX_NONE);
  }
  close_tables(&f);
}

static void numbers_stay_as_the_table_grows(void) {
  uint32_t i, number;
  fixture f;

  open_tables(&f, &sp_mem_default);
  for (i = 0; i < 30000; i++) {
    const sp_frame stack[] = {method(i % 173), method(i % 211), method(i / 99)};

    CHECK_EQUAL(sp_stack_table_add(&f.stacks, stack, 3,
                                   sp_stack_table_hash(stack, 3), &number),
                SPANPROF_OK);
    CHECK_EQUAL(number, i);
  }
  for (i = 0; i < 30000; i++) {
    const sp_frame stack[] = {method(i % 173), method(i % 211), method(i / 99)};

    CHECK_EQUAL(
        sp_stack_table_find(&f.stacks, stack, 3, sp_stack_table_hash(stack, 3)),
        i);
  }
  CHECK(sp_stack_table_bytes(&f.stacks) >= 30000 * (3 * 4 + 8));
  close_tables(&f);
}

/* Adding stacks fails at some allocation: the stack that was not added is
 * absent, and the others stay. */
static void scenario_of_failures(const sp_mem *mem) {
  uint32_t added[300], i, count = 0, number;
  fixture f;

  open_tables(&f, mem);
  for (i = 0; i < 300; i++) {
    const sp_frame stack[] = {method(i), method(i % 9)};
    const uint64_t hash = sp_stack_table_hash(stack, 2);
    const spanprof_status st =
        sp_stack_table_add(&f.stacks, stack, 2, hash, &number);

    CHECK(!st || st == SPANPROF_ERR_NOMEM);
    CHECK_EQUAL(sp_stack_table_find(&f.stacks, stack, 2, hash) == SP_INDEX_NONE,
                st != SPANPROF_OK);
    if (!st)
      added[count++] = i;
  }
  CHECK_EQUAL(f.stacks.count, count);
  CHECK(count >= 299);
  for (i = 0; i < count; i++) {
    const sp_frame stack[] = {method(added[i]), method(added[i] % 9)};

    CHECK_EQUAL(
        sp_stack_table_find(&f.stacks, stack, 2, sp_stack_table_hash(stack, 2)),
        i);
  }
  close_tables(&f);
}

static void every_allocation_may_fail(void) {
  failing_mem_sweep(scenario_of_failures);
}

static const check_test tests[] = {
    {"found_only_after_it_was_added", found_only_after_it_was_added},
    {"order_and_depth_distinguish_stacks", order_and_depth_distinguish_stacks},
    {"stacks_with_equal_hashes_are_distinguished",
     stacks_with_equal_hashes_are_distinguished},
    {"numbers_stay_as_the_table_grows", numbers_stay_as_the_table_grows},
    {"every_allocation_may_fail", every_allocation_may_fail},
};

int main(int argc, char **argv) {
  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
