#include "stack_requests.h"

#include <stdlib.h>
#include <string.h>

#include "checked_copy.h"
#include "stack_top.h"

void sp_stack_requests_clear(sp_stack_requests *wants) {
  wants->count = 0;
  wants->next = 0;
  wants->looks = 0;
}

bool sp_stack_requests_add(sp_stack_requests *wants,
                           const sp_stack_request *want) {
  if (wants->count == SP_STACK_REQUESTS_MAX)
    return false;
  wants->wants[wants->count++] = *want;
  return true;
}

static int want_order(const void *a, const void *b) {
  const sp_stack_request *left = a, *right = b;

  return (left->sp > right->sp) - (left->sp < right->sp);
}

void sp_stack_requests_sort(sp_stack_requests *wants) {
  qsort(wants->wants, wants->count, sizeof wants->wants[0], want_order);
}

/* The stack of a thread that never called us, as far as it reached: in the
 * mapping that holds both its stack pointer and its control block (glibc and
 * musl put it at the stack's outer end), or the main thread's. What the mapping
 * holds below may be another stack, that the kernel joined to this one. Every
 * other stack is read with a system call that cannot fault. */
static void want_match(sp_stack_request *want,
                       const sp_process_mapping *mapping) {
  const bool main_stack = strcmp(mapping->path, "[stack]") == 0;
  const bool plain = want->tp > want->sp && want->tp < mapping->limit &&
                     want->tp - want->sp <= SP_STACK_BYTES_MAX;
  const uint64_t top = sp_stack_top_below(want->tp);

  if (!mapping->readable || !(main_stack || plain))
    return;
  want->low = want->sp & ~(uint64_t)(SP_COPY_PAGE_BYTES - 1);
  if (main_stack)
    want->high = sp_stack_top(want->tp, mapping->start, mapping->limit);
  else
    want->high = top > want->sp ? top : want->tp;
}

/* Between the two may be a guard page that the map does not show: then the
 * thread was on another stack. */
static void want_check(sp_stack_request *want) {
  if (!sp_copy_possible(want->low, want->high))
    want->low = want->high = 0;
}

bool sp_stack_requests_visit(void *data, const sp_process_mapping *mapping) {
  sp_stack_requests *wants = data;

  for (; wants->next < wants->count; wants->next++) {
    sp_stack_request *want = &wants->wants[wants->next];

    wants->looks++;
    if (want->sp >= mapping->limit)
      return false;
    if (want->sp >= mapping->start)
      want_match(want, mapping);
  }
  return true;
}

void sp_stack_requests_resolve(sp_stack_requests *wants) {
  char path[sizeof "[stack]" + 1]; /* a longer one is another */
  size_t i;

  sp_stack_requests_sort(wants);
  sp_process_maps_each(path, sizeof path, sp_stack_requests_visit, wants);
  for (i = 0; i < wants->count; i++)
    want_check(&wants->wants[i]);
}
