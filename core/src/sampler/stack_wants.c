#include "stack_wants.h"

#include <stdlib.h>
#include <string.h>

#include "stack_top.h"

/* Stacks grow to 8 MiB by default; a mapping that holds more below the thread's
 * control block than this is no plain thread stack. */
#define STACK_WANTS_BYTES_MAX (64u << 20)

void sp_stack_wants_clear(sp_stack_wants *wants) {
  wants->count = 0;
  wants->next = 0;
  wants->looks = 0;
}

bool sp_stack_wants_add(sp_stack_wants *wants, const sp_stack_want *want) {
  if (wants->count == SP_STACK_WANTS_MAX)
    return false;
  wants->wants[wants->count++] = *want;
  return true;
}

static int want_order(const void *a, const void *b) {
  const sp_stack_want *left = a, *right = b;

  return (left->sp > right->sp) - (left->sp < right->sp);
}

void sp_stack_wants_sort(sp_stack_wants *wants) {
  qsort(wants->wants, wants->count, sizeof wants->wants[0], want_order);
}

/* The stack of a thread that never called us: the mapping that holds both its
 * stack pointer and its control block, up to the control block (glibc and musl
 * put it at the stack's outer end), or the main thread's. Every other stack is
 * read with a system call that cannot fault. */
static void want_match(sp_stack_want *want, const sp_process_mapping *mapping) {
  const bool main_stack = strcmp(mapping->path, "[stack]") == 0;
  const bool plain = want->tp > want->sp && want->tp < mapping->limit &&
                     want->tp - mapping->start <= STACK_WANTS_BYTES_MAX;

  if (!mapping->readable || !(main_stack || plain))
    return;
  want->low = mapping->start;
  want->high = sp_stack_top(want->tp, mapping->start, mapping->limit);
}

bool sp_stack_wants_see(void *data, const sp_process_mapping *mapping) {
  sp_stack_wants *wants = data;

  for (; wants->next < wants->count; wants->next++) {
    sp_stack_want *want = &wants->wants[wants->next];

    wants->looks++;
    if (want->sp >= mapping->limit)
      return false;
    if (want->sp >= mapping->start)
      want_match(want, mapping);
  }
  return true;
}

void sp_stack_wants_answer(sp_stack_wants *wants) {
  char path[sizeof "[stack]" + 1]; /* a longer one is another */

  sp_stack_wants_sort(wants);
  sp_process_maps_each(path, sizeof path, sp_stack_wants_see, wants);
}
