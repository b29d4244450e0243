/* Stacks of threads that never called us, looked up all together in one pass
 * over the process's memory map. The collector's; no lock is needed. */
#ifndef SP_STACK_REQUESTS_H
#define SP_STACK_REQUESTS_H

#include "unwind/elf/process_maps.h"

#define SP_STACK_REQUESTS_MAX 1024

typedef struct sp_stack_request {
  uint64_t sp; /* of the thread when it was sampled, and its thread pointer */
  uint64_t tp;
  uint32_t thread; /* its record's index */
  int tid;
  /* The answer: of its stack the part that may be read just so, from the page
   * of `sp` on; both 0: none may. */
  uint64_t low;
  uint64_t high;
} sp_stack_request;

typedef struct sp_stack_requests {
  size_t count;
  size_t next;  /* the first that is above the last mapping */
  size_t looks; /* comparisons of a want and a mapping */
  sp_stack_request wants[SP_STACK_REQUESTS_MAX];
} sp_stack_requests;

void sp_stack_requests_clear(sp_stack_requests *wants);

/* False: no room for one more. */
bool sp_stack_requests_add(sp_stack_requests *wants,
                           const sp_stack_request *want);

/* Answer what was added from the process's map; the wants' order changes. */
void sp_stack_requests_resolve(sp_stack_requests *wants);

/* Its two halves: put the wants into order; then take notice of each mapping,
 * by ascending address (an sp_process_maps_fn). */
void sp_stack_requests_sort(sp_stack_requests *wants);
bool sp_stack_requests_visit(void *wants, const sp_process_mapping *mapping);

#endif
