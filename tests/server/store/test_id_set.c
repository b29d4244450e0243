/* Sets of ids, whose memory depends on the number of ids and not on the highest
 * id. */
#include "check.h"

#include <server/store/block/id_set.h>
#include <stdlib.h>

static size_t asked;

static void *counting_resize(void *data, void *old, size_t size) {
  (void)data;
  asked += size;
  if (size)
    return realloc(old, size);
  free(old);
  return NULL;
}

static void added_ids_are_found(void) {
  const uint32_t ids[] = {0, 1, 7, 8, 32767, 32768, 65536, UINT32_MAX};
  sp_id_set set = {0};
  size_t i;

  for (i = 0; i < SP_COUNT_OF(ids); i++) {
    CHECK(!sp_id_set_has(&set, ids[i]));
    CHECK(!sp_id_set_add(&set, &sp_mem_default, ids[i]));
  }
  for (i = 0; i < SP_COUNT_OF(ids); i++)
    CHECK(sp_id_set_has(&set, ids[i]));
  CHECK(!sp_id_set_has(&set, 2));
  CHECK(!sp_id_set_has(&set, 98304));
  CHECK(!sp_id_set_has(&set, UINT32_MAX - 1));
  sp_id_set_dispose(&set, &sp_mem_default);
  CHECK(!sp_id_set_has(&set, 0));
}

static void few_high_ids_need_little_memory(void) {
  const sp_mem counting = {.resize = counting_resize};
  sp_id_set set = {0};
  uint32_t i;

  for (i = 0; i < 1000; i++)
    CHECK(!sp_id_set_add(&set, &counting, UINT32_MAX - i));
  CHECK(asked < 4 << 20);
  sp_id_set_dispose(&set, &counting);
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"added_ids_are_found", added_ids_are_found},
      {"few_high_ids_need_little_memory", few_high_ids_need_little_memory},
  };

  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
