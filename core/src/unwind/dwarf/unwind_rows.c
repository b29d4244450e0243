#include "unwind_rows.h"

#include <string.h>

#include "util/memory/hash.h"

#define ROWS_BUCKETS   1024
#define ROWS_RULES_MAX 32767
#define ROWS_LOW_BITS  16

/* Flag of a rule's index in `places`: a function begins with this row. */
#define ROWS_BEGINS 0x8000u

static const sp_unwind_rule rows_no_rule = {.cfa_kind = SP_CFA_NONE};

_Static_assert(sizeof(sp_unwind_rule) == 28, "sp_unwind_rule has padding");

_Static_assert(ROWS_RULES_MAX <= ROWS_BEGINS, "a rule index has 15 bits");

/* Find or add a rule. After 32,767 distinct rules, far more than in any
 * linker's output, every further rule becomes SP_CFA_UNSUPPORTED. */
static spanprof_status
rows_intern(sp_unwind_rows *rows, const sp_unwind_rule *rule, uint16_t *place) {
  const uint64_t hash = sp_hash_bytes(rule, sizeof *rule);
  uint16_t *bucket;
  spanprof_status st;
  uint32_t i;

  if (!rows->buckets) {
    rows->buckets =
        sp_mem_zero(rows->mem, ROWS_BUCKETS * sizeof *rows->buckets);
    if (!rows->buckets)
      return SPANPROF_ERR_NOMEM;
  }
  bucket = &rows->buckets[(hash >> 32) % ROWS_BUCKETS];
  for (i = *bucket; i != 0; i = rows->chain[i - 1])
    if (memcmp(&rows->rules[i - 1], rule, sizeof *rule) == 0) {
      *place = (uint16_t)(i - 1);
      return SPANPROF_OK;
    }
  if (rows->rule_count + 1 >= ROWS_RULES_MAX) {
    static const sp_unwind_rule unsupported = {.cfa_kind = SP_CFA_UNSUPPORTED};

    if (rows->rule_count + 1 > ROWS_RULES_MAX) {
      *place = ROWS_RULES_MAX - 1;
      return SPANPROF_OK;
    }
    rule = &unsupported;
  }
  st = sp_mem_reserve(rows->mem, (void **)&rows->rules, &rows->rule_capacity,
                      rows->rule_count + 1, sizeof *rows->rules);
  if (!st)
    st = sp_mem_reserve(rows->mem, (void **)&rows->chain, &rows->chain_capacity,
                        rows->rule_count + 1, sizeof *rows->chain);
  if (st)
    return st;
  rows->rules[rows->rule_count] = *rule;
  rows->chain[rows->rule_count] = *bucket;
  *place = (uint16_t)rows->rule_count;
  *bucket = (uint16_t)++rows->rule_count;
  return SPANPROF_OK;
}

/* The index of the last of `count` ascending values that is not above `value`.
 * The caller ensures that the first value is not above it. */
static uint32_t lows_search(const uint16_t *lows, uint32_t count,
                            uint16_t value) {
  const uint16_t *at = lows;

  while (count > 1) {
    const uint32_t half = count / 2;

    at += at[half] <= value ? half : 0;
    count -= half;
  }
  return (uint32_t)(at - lows);
}

/* Find the index of the row that contains an ELF virtual address. Returns false
 * if the address is before the first row. */
static bool rows_index(const sp_unwind_rows *rows, uint64_t pc,
                       uint32_t *index) {
  uint32_t block, first, limit;
  uint16_t low;

  if (rows->count == 0 || pc < rows->base || pc - rows->base > UINT32_MAX)
    return false;
  block = (uint32_t)((pc - rows->base) >> ROWS_LOW_BITS);
  low = (uint16_t)(pc - rows->base);
  first = block < rows->block_count ? rows->blocks[block] : rows->count;
  limit = block + 1 < rows->block_count ? rows->blocks[block + 1] : rows->count;
  /* The previous row may extend into this block of 64 KiB. There is a previous
   * row, because the first row is at the start of the first block. */
  if (first == limit || rows->lows[first] > low)
    *index = first - 1;
  else
    *index = first + lows_search(rows->lows + first, limit - first, low);
  return true;
}

uint64_t sp_unwind_rows_pc(const sp_unwind_rows *rows, uint32_t index) {
  uint32_t block = 0, count = rows->block_count;

  while (count > 1) {
    const uint32_t half = count / 2;

    block += rows->blocks[block + half] <= index ? half : 0;
    count -= half;
  }
  return rows->base + ((uint64_t)block << ROWS_LOW_BITS) + rows->lows[index];
}

static const sp_unwind_rule *rows_rule(const sp_unwind_rows *rows,
                                       uint32_t index) {
  return &rows->rules[rows->places[index] & ~ROWS_BEGINS];
}

static void rows_shrink(const sp_mem *mem, void **array, size_t *capacity,
                        size_t count, size_t item) {
  void *smaller;

  if (count == 0 || count == *capacity)
    return;
  smaller = sp_mem_resize(mem, *array, count * item);
  if (!smaller)
    return; /* without memory, the larger array stays */
  *array = smaller;
  *capacity = count;
}

void sp_unwind_rows_init(sp_unwind_rows *rows, const sp_mem *mem) {
  *rows = (sp_unwind_rows){.mem = mem};
}

void sp_unwind_rows_dispose(sp_unwind_rows *rows) {
  sp_mem_free(rows->mem, rows->lows);
  sp_mem_free(rows->mem, rows->blocks);
  sp_mem_free(rows->mem, rows->places);
  sp_mem_free(rows->mem, rows->rules);
  sp_mem_free(rows->mem, rows->buckets);
  sp_mem_free(rows->mem, rows->chain);
  sp_unwind_rows_init(rows, rows->mem);
}

void sp_unwind_rows_begin(sp_unwind_rows *rows) {
  rows->begins = ROWS_BEGINS;
}

/* Reserve capacity for one more row, and for `blocks` blocks in total. */
static spanprof_status rows_reserve(sp_unwind_rows *rows, size_t blocks) {
  const size_t rows_needed = (size_t)rows->count + 1;
  spanprof_status st =
      sp_mem_reserve(rows->mem, (void **)&rows->lows, &rows->low_capacity,
                     rows_needed, sizeof *rows->lows);

  if (!st)
    st =
        sp_mem_reserve(rows->mem, (void **)&rows->places, &rows->place_capacity,
                       rows_needed, sizeof *rows->places);
  if (!st)
    st = sp_mem_reserve(rows->mem, (void **)&rows->blocks,
                        &rows->block_capacity, blocks, sizeof *rows->blocks);
  return st;
}

spanprof_status sp_unwind_rows_add(sp_unwind_rows *rows, uint64_t pc,
                                   const sp_unwind_rule *rule) {
  spanprof_status st;
  uint32_t block;
  uint16_t place;

  if (rows->count == 0)
    rows->base = pc;
  if (pc < rows->base || pc - rows->base > UINT32_MAX ||
      rows->count == UINT32_MAX)
    return SPANPROF_ERR_LIMIT;
  st = rows_intern(rows, rule, &place);
  if (st)
    return st;
  place |= rows->begins;
  rows->begins = 0;
  if (rows->count > 0 && sp_unwind_rows_pc(rows, rows->count - 1) == pc)
    place |= rows->places[--rows->count] & ROWS_BEGINS;
  if (rows->count > 0 && !(place & ROWS_BEGINS) &&
      (rows->places[rows->count - 1] & ~ROWS_BEGINS) == place)
    return SPANPROF_OK;
  block = (uint32_t)((pc - rows->base) >> ROWS_LOW_BITS);
  st = rows_reserve(rows, (size_t)block + 1);
  if (st)
    return st;
  while (rows->block_count <= block)
    rows->blocks[rows->block_count++] = rows->count;
  rows->lows[rows->count] = (uint16_t)(pc - rows->base);
  rows->places[rows->count] = place;
  rows->count++;
  return SPANPROF_OK;
}

void sp_unwind_rows_seal(sp_unwind_rows *rows) {
  sp_mem_free(rows->mem, rows->buckets);
  sp_mem_free(rows->mem, rows->chain);
  rows->buckets = NULL;
  rows->chain = NULL;
  rows->chain_capacity = 0;
  rows_shrink(rows->mem, (void **)&rows->lows, &rows->low_capacity, rows->count,
              sizeof *rows->lows);
  rows_shrink(rows->mem, (void **)&rows->blocks, &rows->block_capacity,
              rows->block_count, sizeof *rows->blocks);
  rows_shrink(rows->mem, (void **)&rows->places, &rows->place_capacity,
              rows->count, sizeof *rows->places);
  rows_shrink(rows->mem, (void **)&rows->rules, &rows->rule_capacity,
              rows->rule_count, sizeof *rows->rules);
}

const sp_unwind_rule *sp_unwind_rows_find(const sp_unwind_rows *rows,
                                          uint64_t pc) {
  uint32_t index;

  return rows_index(rows, pc, &index) ? rows_rule(rows, index) : &rows_no_rule;
}

/* Find the index of the row with which the function at an address begins. */
static bool rows_function_index(const sp_unwind_rows *rows, uint64_t pc,
                                uint32_t *index) {
  if (!rows_index(rows, pc, index) ||
      rows_rule(rows, *index)->cfa_kind == SP_CFA_NONE)
    return false;
  while (!(rows->places[*index] & ROWS_BEGINS))
    if ((*index)-- == 0)
      return false;
  return true;
}

bool sp_unwind_rows_function(const sp_unwind_rows *rows, uint64_t pc,
                             uint64_t *start) {
  uint32_t index;

  if (!rows_function_index(rows, pc, &index))
    return false;
  *start = sp_unwind_rows_pc(rows, index);
  return true;
}

bool sp_unwind_rows_bounds(const sp_unwind_rows *rows, uint64_t pc,
                           uint64_t *start, uint64_t *end) {
  uint32_t index;

  if (!rows_function_index(rows, pc, &index))
    return false;
  *start = sp_unwind_rows_pc(rows, index++);
  while (index < rows->count && !(rows->places[index] & ROWS_BEGINS) &&
         rows_rule(rows, index)->cfa_kind != SP_CFA_NONE)
    index++;
  *end = index < rows->count ? sp_unwind_rows_pc(rows, index) : *start;
  return true;
}

bool sp_unwind_rule_enters(const sp_unwind_rule *rule) {
#if defined(__x86_64__)
  return rule->cfa_kind == SP_CFA_REGISTER && rule->cfa_register == 7 &&
         rule->cfa_offset == 8;
#else
  return rule->cfa_kind == SP_CFA_REGISTER && rule->cfa_register == 31 &&
         rule->cfa_offset == 0;
#endif
}
