#include "stack_requests.h"

#include <stdlib.h>
#include <string.h>

#include "checked_copy.h"
#include "stack_top.h"

void sp_stack_requests_clear(sp_stack_requests *requests) {
  requests->count = 0;
  requests->next = 0;
  requests->comparisons = 0;
}

bool sp_stack_requests_add(sp_stack_requests *requests,
                           const sp_stack_request *request) {
  if (requests->count == SP_STACK_REQUESTS_MAX)
    return false;
  requests->requests[requests->count++] = *request;
  return true;
}

static int request_order(const void *a, const void *b) {
  const sp_stack_request *left = a, *right = b;

  return (left->sp > right->sp) - (left->sp < right->sp);
}

void sp_stack_requests_sort(sp_stack_requests *requests) {
  qsort(requests->requests, requests->count, sizeof requests->requests[0],
        request_order);
}

/* Find the readable part of the stack of a thread that has never called
 * spanprof. The stack is in a mapping that contains both the stack pointer and
 * the thread's control block (glibc and musl place it at the stack's outer
 * end), or it is the main thread's stack. Lower addresses of the mapping may
 * belong to another stack whose mapping the kernel merged with this one. Stacks
 * that are not found are read with a system call that cannot fault. */
static void request_match(sp_stack_request *request,
                          const sp_process_mapping *mapping) {
  const bool main_stack = strcmp(mapping->path, "[stack]") == 0;
  const bool plain = request->tp > request->sp &&
                     request->tp < mapping->limit &&
                     request->tp - request->sp <= SP_STACK_BYTES_MAX;
  const uint64_t top = sp_stack_top_below(request->tp);

  if (!mapping->readable || !(main_stack || plain))
    return;
  request->low = request->sp & ~(uint64_t)(SP_COPY_PAGE_BYTES - 1);
  if (main_stack)
    request->high = sp_stack_top(request->tp, mapping->start, mapping->limit);
  else
    request->high = top > request->sp ? top : request->tp;
}

/* If there is a guard page between `low` and `high`, which the memory map need
 * not show, the thread was on another stack. */
static void request_check(sp_stack_request *request) {
  if (!sp_copy_possible(request->low, request->high))
    request->low = request->high = 0;
}

bool sp_stack_requests_visit(void *data, const sp_process_mapping *mapping) {
  sp_stack_requests *requests = data;

  for (; requests->next < requests->count; requests->next++) {
    sp_stack_request *request = &requests->requests[requests->next];

    requests->comparisons++;
    if (request->sp >= mapping->limit)
      return false;
    if (request->sp >= mapping->start)
      request_match(request, mapping);
  }
  return true;
}

void sp_stack_requests_resolve(sp_stack_requests *requests) {
  char path[sizeof "[stack]" + 1]; /* a longer path cannot be "[stack]" */
  size_t i;

  sp_stack_requests_sort(requests);
  sp_process_maps_each(path, sizeof path, sp_stack_requests_visit, requests);
  for (i = 0; i < requests->count; i++)
    request_check(&requests->requests[i]);
}
