#include "profile/pprof/gzip_stream.h"

#include "failing_mem.h"
#include "profile/pprof/gunzip.h"

/* Larger than the input buffer and than the output of one compression step. */
#define LARGE_BYTES ((size_t)300 << 10)

static unsigned char large[LARGE_BYTES];

/* Fill the input with bytes that cannot be compressed (xorshift; Marsaglia,
 * Journal of Statistical Software 8, 2003). */
static void fill_large(void) {
  uint32_t state = 1;
  size_t i;

  for (i = 0; i < sizeof large; i++) {
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    large[i] = (unsigned char)state;
  }
}

/* Finish the file. Does it decompress to these bytes? */
static bool ends_as(sp_gzip *gzip, const void *bytes, size_t size) {
  const sp_mem *mem = gzip->out.mem;
  sp_buffer unpacked;
  void *file = NULL;
  size_t file_bytes;
  bool same;

  sp_buffer_init(&unpacked, mem);
  same = !sp_gzip_finish(gzip, &file, &file_bytes) &&
         !sp_gunzip(&unpacked, file, file_bytes, LARGE_BYTES + 1) &&
         unpacked.size == size &&
         (size == 0 || memcmp(unpacked.data, bytes, size) == 0);
  sp_buffer_dispose(&unpacked);
  sp_mem_free(mem, file);
  return same;
}

static void files_follow_each_other(void) {
  static const size_t sizes[] = {0, 1, LARGE_BYTES, 3, 0};
  sp_gzip gzip;
  size_t i;

  fill_large();
  CHECK_EQUAL(sp_gzip_open(&gzip, &sp_mem_default), SPANPROF_OK);
  for (i = 0; i < SP_COUNT_OF(sizes); i++) {
    CHECK_EQUAL(sp_gzip_write(&gzip, large, sizes[i]), SPANPROF_OK);
    CHECK(ends_as(&gzip, large, sizes[i]));
  }
  sp_gzip_dispose(&gzip);
}

static void pieces_are_written_to_one_file(void) {
  sp_gzip gzip;
  size_t at, some;

  fill_large();
  CHECK_EQUAL(sp_gzip_open(&gzip, &sp_mem_default), SPANPROF_OK);
  for (at = 0; at < LARGE_BYTES; at += some) {
    some = LARGE_BYTES - at < at + 1 ? LARGE_BYTES - at : at + 1;
    CHECK_EQUAL(sp_gzip_write(&gzip, large + at, some), SPANPROF_OK);
  }
  CHECK(ends_as(&gzip, large, LARGE_BYTES));
  sp_gzip_dispose(&gzip);
}

static void scenario_of_failures(const sp_mem *mem) {
  sp_gzip gzip;

  if (sp_gzip_open(&gzip, mem))
    return;
  if (!sp_gzip_write(&gzip, large, LARGE_BYTES))
    (void)ends_as(&gzip, large, LARGE_BYTES);
  sp_gzip_dispose(&gzip);
}

static void every_allocation_may_fail(void) {
  failing_mem_sweep(scenario_of_failures);
}

static const check_test tests[] = {
    {"files_follow_each_other", files_follow_each_other},
    {"pieces_are_written_to_one_file", pieces_are_written_to_one_file},
    {"every_allocation_may_fail", every_allocation_may_fail},
};

int main(int argc, char **argv) {
  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
