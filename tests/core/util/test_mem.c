#include "util/memory/mem.h"

#include <malloc.h>
#include <string.h>

#include "check.h"

#define SMALL_BYTES ((size_t)100)
#define LARGE_BYTES ((size_t)200 << 10)
#define HUGE_BYTES  ((size_t)64 << 20)

static unsigned char byte_at(size_t i) {
  return (unsigned char)(i * 7 + i / 251);
}

static void block_fill(unsigned char *block, size_t from, size_t to) {
  size_t i;

  for (i = from; i < to; i++)
    block[i] = byte_at(i);
}

static bool block_has(const unsigned char *block, size_t bytes) {
  size_t i;

  for (i = 0; i < bytes; i++)
    if (block[i] != byte_at(i))
      return false;
  return true;
}

static void a_resized_block_keeps_its_bytes(void) {
  static const size_t sizes[] = {
      SMALL_BYTES,
      3 * SMALL_BYTES,
      LARGE_BYTES,
      LARGE_BYTES + 1,
      4 * LARGE_BYTES,
      LARGE_BYTES,
      ((size_t)64 << 10),
      65535,
      65519,
      65520,
      SMALL_BYTES,
      HUGE_BYTES,
      1,
  };
  unsigned char *block = NULL;
  size_t held = 0, i;

  for (i = 0; i < SP_COUNT_OF(sizes); i++) {
    block = sp_mem_resize(&sp_mem_paged, block, sizes[i]);
    CHECK(block);
    CHECK_EQUAL((uintptr_t)block % 16, 0);
    CHECK(block_has(block, sp_min_u64(held, sizes[i])));
    block_fill(block, sp_min_u64(held, sizes[i]), sizes[i]);
    held = sizes[i];
  }
  sp_mem_free(&sp_mem_paged, block);
}

static void zeroed_blocks_are_zero_in_reused_memory(void) {
  static const size_t sizes[] = {SMALL_BYTES, 65520, 65535, LARGE_BYTES};
  size_t i, k;

  for (i = 0; i < SP_COUNT_OF(sizes); i++) {
    unsigned char *block = sp_mem_new(&sp_mem_paged, sizes[i]);

    CHECK(block);
    memset(block, 0xff, sizes[i]);
    sp_mem_free(&sp_mem_paged, block);
    block = sp_mem_zero(&sp_mem_paged, sizes[i]);
    CHECK(block);
    for (k = 0; k < sizes[i]; k++)
      CHECK_EQUAL(block[k], 0);
    sp_mem_free(&sp_mem_paged, block);
  }
}

/* Not with sanitizers, because they put all blocks in the heap, and end a
 * program that allocates too much. */
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

static void a_block_that_cannot_grow_is_unchanged(void) {
  static const size_t sizes[] = {SMALL_BYTES, LARGE_BYTES};
  size_t i;

  for (i = 0; i < SP_COUNT_OF(sizes); i++) {
    unsigned char *block = sp_mem_new(&sp_mem_paged, sizes[i]);

    CHECK(block);
    block_fill(block, 0, sizes[i]);
    CHECK(!sp_mem_resize(&sp_mem_paged, block, SIZE_MAX));
    CHECK(!sp_mem_resize(&sp_mem_paged, block, SIZE_MAX / 2));
    CHECK(block_has(block, sizes[i]));
    sp_mem_free(&sp_mem_paged, block);
  }
}

static size_t heap_bytes(void) {
  struct mallinfo2 info = mallinfo2();

  return info.arena + info.hblkhd;
}

static size_t resident_pages(void) {
  FILE *file = fopen("/proc/self/statm", "re");
  size_t all, resident = 0;

  CHECK(file && fscanf(file, "%zu %zu", &all, &resident) == 2);
  fclose(file);
  return resident;
}

static void large_blocks_are_outside_the_heap(void) {
  const size_t before = heap_bytes();
  unsigned char *blocks[20];
  size_t i;

  for (i = 0; i < SP_COUNT_OF(blocks); i++) {
    blocks[i] = sp_mem_new(&sp_mem_paged, LARGE_BYTES);
    CHECK(blocks[i]);
    block_fill(blocks[i], 0, LARGE_BYTES);
    blocks[i] = sp_mem_resize(&sp_mem_paged, blocks[i], 2 * LARGE_BYTES);
    CHECK(blocks[i]);
  }
  CHECK_EQUAL(heap_bytes(), before);
  for (i = 0; i < SP_COUNT_OF(blocks); i++)
    sp_mem_free(&sp_mem_paged, blocks[i]);
  CHECK_EQUAL(heap_bytes(), before);
}

static void large_blocks_use_and_return_touched_pages(void) {
  const size_t block_pages = HUGE_BYTES / 4096, before = resident_pages();
  unsigned char *block = sp_mem_zero(&sp_mem_paged, HUGE_BYTES);

  CHECK(block);
  CHECK(resident_pages() < before + block_pages / 8);
  block_fill(block, 0, HUGE_BYTES);
  CHECK(resident_pages() > before + block_pages * 7 / 8);
  sp_mem_free(&sp_mem_paged, block);
  CHECK(resident_pages() < before + block_pages / 8);
}

#endif

static const check_test tests[] = {
    {"a_resized_block_keeps_its_bytes", a_resized_block_keeps_its_bytes},
    {"zeroed_blocks_are_zero_in_reused_memory",
     zeroed_blocks_are_zero_in_reused_memory},
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    {"a_block_that_cannot_grow_is_unchanged",
     a_block_that_cannot_grow_is_unchanged},
    {"large_blocks_are_outside_the_heap", large_blocks_are_outside_the_heap},
    {"large_blocks_use_and_return_touched_pages",
     large_blocks_use_and_return_touched_pages},
#endif
};

int main(int argc, char **argv) {
  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
