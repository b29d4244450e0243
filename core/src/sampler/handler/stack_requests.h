/* Looks up the stacks of threads that have never called spanprof, many in one
 * pass over the process's memory map. Only the collector uses it, so it needs
 * no lock. */
#ifndef SP_STACK_REQUESTS_H
#define SP_STACK_REQUESTS_H

#include "unwind/elf/process_maps.h"

#define SP_STACK_REQUESTS_MAX 1024

typedef struct sp_stack_request {
  uint64_t sp; /* stack pointer of a sample */
  uint64_t tp;
  uint32_t thread; /* index of the thread's record */
  int tid;
  /* Result: the part of the stack that may be read without checks, from the
   * page of `sp` on. Both are 0 if there is none. */
  uint64_t low;
  uint64_t high;
} sp_stack_request;

typedef struct sp_stack_requests {
  size_t count;
  /* Index of the first request above the last visited mapping. */
  size_t next;
  size_t comparisons; /* number of comparisons of a request with a mapping */
  sp_stack_request requests[SP_STACK_REQUESTS_MAX];
} sp_stack_requests;

void sp_stack_requests_clear(sp_stack_requests *requests);

/* Add a request. Returns false if the list is full. */
bool sp_stack_requests_add(sp_stack_requests *requests,
                           const sp_stack_request *request);

/* Resolve the requests with the process's memory map. This reorders the
 * requests. */
void sp_stack_requests_resolve(sp_stack_requests *requests);

/* The two steps of sp_stack_requests_resolve(): sort the requests, then visit
 * each mapping in ascending order (an sp_process_maps_fn). */
void sp_stack_requests_sort(sp_stack_requests *requests);
bool sp_stack_requests_visit(void *requests, const sp_process_mapping *mapping);

#endif
