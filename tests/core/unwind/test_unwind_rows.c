/* Tests of the rows of a module that is larger than one block of 64 KiB. The
 * real modules in test_module.c and test_unwinder.c rarely produce all these
 * cases. */
#include "../check.h"
#include "unwind/dwarf/unwind_rows.h"
#include "util/memory/mem.h"

#define BASE  UINT64_C(0x400123)
#define BLOCK UINT64_C(0x10000)
#define ROWS  5000

static sp_unwind_rows rows_new(void) {
  sp_unwind_rows rows;

  sp_unwind_rows_init(&rows, &sp_mem_default);
  return rows;
}

static void add(sp_unwind_rows *rows, uint64_t pc, int32_t offset) {
  const sp_unwind_rule rule = {.cfa_kind = SP_CFA_REGISTER,
                               .cfa_offset = offset};

  CHECK_EQUAL(sp_unwind_rows_add(rows, pc, &rule), SPANPROF_OK);
}

static int32_t offset_at(const sp_unwind_rows *rows, uint64_t pc) {
  return sp_unwind_rows_find(rows, pc)->cfa_offset;
}

static void a_row_extends_over_blocks_without_rows(void) {
  sp_unwind_rows rows = rows_new();

  add(&rows, BASE, 8);
  add(&rows, BASE + 3 * BLOCK + 5, 16);
  sp_unwind_rows_seal(&rows);
  CHECK_EQUAL(sp_unwind_rows_find(&rows, BASE - 1)->cfa_kind, SP_CFA_NONE);
  CHECK_EQUAL(offset_at(&rows, BASE), 8);
  CHECK_EQUAL(offset_at(&rows, BASE + BLOCK - 1), 8);
  CHECK_EQUAL(offset_at(&rows, BASE + BLOCK), 8);
  CHECK_EQUAL(offset_at(&rows, BASE + 3 * BLOCK), 8);
  CHECK_EQUAL(offset_at(&rows, BASE + 3 * BLOCK + 4), 8);
  CHECK_EQUAL(offset_at(&rows, BASE + 3 * BLOCK + 5), 16);
  CHECK_EQUAL(offset_at(&rows, BASE + 4 * BLOCK), 16);
  CHECK_EQUAL(offset_at(&rows, BASE + UINT32_MAX), 16);
  CHECK_EQUAL(sp_unwind_rows_find(&rows, BASE + UINT32_MAX + 1)->cfa_kind,
              SP_CFA_NONE);
  sp_unwind_rows_dispose(&rows);
}

static void the_first_row_of_a_block_is_replaced_or_removed(void) {
  sp_unwind_rows rows = rows_new();

  add(&rows, BASE, 8);
  add(&rows, BASE + BLOCK, 16);
  add(&rows, BASE + BLOCK, 24); /* replaces the previous row */
  CHECK_EQUAL(rows.count, 2);
  add(&rows, BASE + 2 * BLOCK, 32);
  /* Dropped: the rule is the same as in the previous row. */
  add(&rows, BASE + 2 * BLOCK, 24);
  CHECK_EQUAL(rows.count, 2);
  CHECK_EQUAL(offset_at(&rows, BASE + 2 * BLOCK + 1), 24);
  add(&rows, BASE + 2 * BLOCK + 7, 40);
  CHECK_EQUAL(rows.count, 3);
  CHECK_EQUAL(offset_at(&rows, BASE + BLOCK - 1), 8);
  CHECK_EQUAL(offset_at(&rows, BASE + BLOCK), 24);
  CHECK_EQUAL(offset_at(&rows, BASE + 2 * BLOCK + 6), 24);
  CHECK_EQUAL(offset_at(&rows, BASE + 2 * BLOCK + 7), 40);
  CHECK_EQUAL(sp_unwind_rows_pc(&rows, 2), BASE + 2 * BLOCK + 7);
  sp_unwind_rows_dispose(&rows);
}

static void a_function_begins_in_an_earlier_block(void) {
  sp_unwind_rows rows = rows_new();
  uint64_t start = 0;

  sp_unwind_rows_begin(&rows);
  add(&rows, BASE, 8);
  sp_unwind_rows_begin(&rows);
  add(&rows, BASE + BLOCK - 3, 8);
  add(&rows, BASE + BLOCK + 3, 16);
  add(&rows, BASE + 3 * BLOCK, 24);
  CHECK(sp_unwind_rows_function(&rows, BASE + 3 * BLOCK + 9, &start));
  CHECK_EQUAL(start, BASE + BLOCK - 3);
  CHECK(sp_unwind_rows_function(&rows, BASE + BLOCK - 4, &start));
  CHECK_EQUAL(start, BASE);
  sp_unwind_rows_dispose(&rows);
}

/* The expected row is found by a linear search. */
static void every_pc_finds_the_last_row_before_it(void) {
  static uint64_t pcs[ROWS];
  sp_unwind_rows rows = rows_new();
  uint64_t pc = BASE, state = 1;
  uint32_t i;

  for (i = 0; i < ROWS; i++) {
    pcs[i] = pc;
    add(&rows, pc, (int32_t)i);
    /* The constants are MMIX's (Knuth, The Art of Computer Programming 2,
     * 3.3.4). */
    state =
        state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    pc += 1 + (state >> 33) % (state >> 60 == 0 ? 5 * BLOCK : 40);
  }
  sp_unwind_rows_seal(&rows);
  CHECK_EQUAL(rows.count, ROWS);
  CHECK(rows.block_count > 500);
  for (i = 0; i < ROWS; i++) {
    const uint64_t last = i + 1 < ROWS ? pcs[i + 1] - 1 : pcs[i] + BLOCK;

    CHECK_EQUAL(sp_unwind_rows_pc(&rows, i), pcs[i]);
    CHECK_EQUAL(offset_at(&rows, pcs[i]), i);
    CHECK_EQUAL(offset_at(&rows, pcs[i] + (last - pcs[i]) / 2), i);
    CHECK_EQUAL(offset_at(&rows, last), i);
  }
  sp_unwind_rows_dispose(&rows);
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"a_row_extends_over_blocks_without_rows",
       a_row_extends_over_blocks_without_rows},
      {"the_first_row_of_a_block_is_replaced_or_removed",
       the_first_row_of_a_block_is_replaced_or_removed},
      {"a_function_begins_in_an_earlier_block",
       a_function_begins_in_an_earlier_block},
      {"every_pc_finds_the_last_row_before_it",
       every_pc_finds_the_last_row_before_it},
  };

  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
