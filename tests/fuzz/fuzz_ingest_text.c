/* Reads the formats of /ingest that contain stacks of names. The first byte of
 * the input selects the format, the remainder is the body. */
#include <stdlib.h>

#include "server/receive/ingest/speedscope.h"
#include "server/receive/ingest/stack_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static spanprof_status speedscope(sp_stack_list *list, sp_view body) {
  sp_speedscope_profile profile;
  void *held;
  json_t *root;
  spanprof_status st =
      sp_speedscope_open(&root, &sp_mem_default, body, &held, list->refusal);
  size_t i;

  for (i = 0; !st && i < sp_speedscope_count(root); i++)
    st = sp_speedscope_read(root, i, &profile, list);
  /* The names of the stacks are freed below, so empty the list. */
  list->stack_count = 0;
  json_decref(root);
  sp_mem_free(&sp_mem_default, held);
  return st;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static spanprof_status (*const formats[])(sp_stack_list *, sp_view) = {
      sp_stack_folded, sp_stack_lines, sp_stack_trie, sp_stack_tree_read,
      speedscope};
  const sp_stack_meta meta = {.type = "cpu", .unit = "ns", .scale = 10000000};
  sp_raw_profile profile;
  sp_stack_list list;
  sp_refusal refusal;
  sp_arena arena;
  spanprof_status st;

  if (!size)
    return 0;
  sp_refusal_init(&refusal, &sp_mem_default);
  sp_arena_init(&arena, &sp_mem_default, (size_t)64 << 20);
  sp_stack_list_init(&list, &arena, &refusal);
  st = formats[data[0] % SP_COUNT_OF(formats)](&list,
                                               sp_view_of(data + 1, size - 1));
  if (!st && list.stack_count)
    st = sp_stack_list_profile(&list, &meta, &profile);
  if ((st == SPANPROF_ERR_FORMAT) != (refusal.kind != SP_REFUSAL_NONE))
    abort();
  sp_stack_list_dispose(&list);
  sp_arena_dispose(&arena);
  sp_refusal_dispose(&refusal);
  return 0;
}
