/* Tests that the stacks of threads are found in one pass over the process's
 * memory map. */
#include "sampler/handler/stack_requests.h"

#include <pthread.h>
#include <semaphore.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"

#define STACK UINT64_C(0x20000) /* distance of two stacks in map_read() */

static sp_stack_requests requests;

static void request_add(uint64_t sp, uint64_t tp) {
  const sp_stack_request request = {.sp = sp, .tp = tp, .tid = 1};

  CHECK(sp_stack_requests_add(&requests, &request));
}

static void map_visit(uint64_t start, uint64_t limit, bool readable,
                      const char *path) {
  const sp_process_mapping mapping = {
      .start = start, .limit = limit, .readable = readable, .path = path};

  sp_stack_requests_visit(&requests, &mapping);
}

/* Visit a map of `stacks` stacks, each with a guard page below it. */
static void map_read(size_t stacks) {
  size_t i;

  for (i = 1; i <= stacks; i++) {
    map_visit(i * STACK, i * STACK + 0x1000, false, "");
    map_visit(i * STACK + 0x1000, (i + 1) * STACK, true, "");
  }
}

static const sp_stack_request *request_with(uint64_t sp) {
  size_t i;

  for (i = 0; i < requests.count; i++)
    if (requests.requests[i].sp == sp)
      return &requests.requests[i];
  return NULL;
}

static void a_stack_contains_sp_and_control_block(void) {
  enum { IN = 0x18000, BLOCK = 0x1f000 };
  size_t i;

  sp_stack_requests_clear(&requests);
  for (i = 9; i >= 1; i--)
    request_add(i * STACK + IN + 8, i * STACK + BLOCK);
  sp_stack_requests_sort(&requests);
  map_read(5);
  for (i = 1; i <= 9; i++) {
    const sp_stack_request *request = request_with(i * STACK + IN + 8);

    CHECK_EQUAL(request->low, i <= 5 ? i * STACK + IN : 0);
    CHECK(i > 5 ? request->high == 0
                : request->high > request->sp &&
                      request->high <= (i + 1) * STACK);
  }
}

static void other_stacks_are_not_read_directly(void) {
  sp_stack_requests_clear(&requests);
  request_add(1 * STACK + 0x800, 1 * STACK + 0x900); /* in the guard page */
  /* The stack pointer is above the control block. */
  request_add(2 * STACK + 0x9000, 2 * STACK + 0x8000);
  /* The stack is that of a coroutine. */
  request_add(3 * STACK + 0x9000, 5 * STACK + 0x8000);
  request_add(4 * STACK + 0x9000, 4 * STACK + 0xa000);
  sp_stack_requests_sort(&requests);
  map_read(3);
  map_visit(4 * STACK, 4 * STACK + (65u << 20), true, "");
  CHECK(request_with(1 * STACK + 0x800)->low == 0);
  CHECK(request_with(2 * STACK + 0x9000)->low == 0);
  CHECK(request_with(3 * STACK + 0x9000)->low == 0);
  CHECK_EQUAL(request_with(4 * STACK + 0x9000)->low, 4 * STACK + 0x9000);
  /* The first request's stack pointer and control block are too far apart for
   * one stack. The second request is for a normal stack in a large mapping,
   * because the kernel may merge adjacent stacks into one mapping. */
  sp_stack_requests_clear(&requests);
  request_add(1 * STACK, 1 * STACK + (65u << 20));
  request_add(2 * STACK + (65u << 20), 2 * STACK + (65u << 20) + 8);
  map_visit(STACK, STACK + (66u << 20), true, "");
  CHECK(requests.requests[0].low == 0);
  CHECK_EQUAL(requests.requests[1].low, 2 * STACK + (65u << 20));
}

/* A mapping of a file that is too short ends with unreadable pages, like a
 * mapping that contains guard pages (Linux 6.13, MADV_GUARD_INSTALL). */
static void a_stack_with_an_unreadable_page_is_rejected(void) {
  enum { PAGES = 300, PAGE = 4096 };
  int file = memfd_create("stack", MFD_CLOEXEC);
  uint64_t start;
  char *pages;

  CHECK(file >= 0 && !ftruncate(file, PAGES * PAGE));
  pages = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  CHECK(pages != MAP_FAILED);
  start = (uint64_t)(uintptr_t)pages;
  sp_stack_requests_clear(&requests);
  request_add(start + 8, start + PAGES * PAGE - 8);
  sp_stack_requests_resolve(&requests);
  CHECK_EQUAL(requests.requests[0].low, start);
  CHECK_EQUAL(requests.requests[0].high, start + PAGES * PAGE - 8);
  CHECK(!ftruncate(file, (PAGES - 1) * PAGE));
  sp_stack_requests_clear(&requests);
  request_add(start + 8, start + PAGES * PAGE - 8);
  sp_stack_requests_resolve(&requests);
  CHECK_EQUAL(requests.requests[0].low, 0);
  CHECK_EQUAL(requests.requests[0].high, 0);
  munmap(pages, PAGES * PAGE);
  close(file);
}

static void each_mapping_and_request_is_compared_once(void) {
  static const size_t stacks[] = {1024, 2048, 4096};
  size_t i, k;

  for (k = 0; k < sizeof stacks / sizeof *stacks; k++) {
    sp_stack_requests_clear(&requests);
    for (i = 1; i <= SP_STACK_REQUESTS_MAX; i++)
      request_add(i * STACK + 0x18000, i * STACK + 0x1f000);
    sp_stack_requests_sort(&requests);
    map_read(stacks[k]);
    CHECK(request_with(SP_STACK_REQUESTS_MAX * STACK + 0x18000)->low != 0);
    CHECK(requests.comparisons <= SP_STACK_REQUESTS_MAX + 2 * stacks[k]);
  }
}

static void the_list_has_its_capacity(void) {
  const sp_stack_request request = {.sp = 1, .tp = 2};
  size_t i;

  sp_stack_requests_clear(&requests);
  for (i = 0; i < SP_STACK_REQUESTS_MAX; i++)
    CHECK(sp_stack_requests_add(&requests, &request));
  CHECK(!sp_stack_requests_add(&requests, &request));
  sp_stack_requests_clear(&requests);
  CHECK(sp_stack_requests_add(&requests, &request));
}

typedef struct here {
  uint64_t sp;
  uint64_t tp;
  sem_t known;
  sem_t leave;
} here;

static void here_fill(here *out) {
  out->sp = (uint64_t)(uintptr_t)__builtin_frame_address(0);
  out->tp = (uint64_t)(uintptr_t)__builtin_thread_pointer();
}

static void *thread_run(void *data) {
  here *place = data;

  here_fill(place);
  sem_post(&place->known);
  sem_wait(&place->leave);
  return NULL;
}

/* The stacks of this and of another thread are found. The address of a variable
 * that is not on a stack is not. */
static void stacks_of_this_process_are_found(void) {
  pthread_t thread;
  here main_place, place;

  sem_init(&place.known, 0, 0);
  sem_init(&place.leave, 0, 0);
  CHECK(!pthread_create(&thread, NULL, thread_run, &place));
  sem_wait(&place.known);
  here_fill(&main_place);
  sp_stack_requests_clear(&requests);
  request_add(main_place.sp, main_place.tp);
  request_add(place.sp, place.tp);
  request_add((uint64_t)(uintptr_t)&requests, place.tp);
  sp_stack_requests_resolve(&requests);
  CHECK(request_with(main_place.sp)->low <= main_place.sp);
  CHECK(request_with(main_place.sp)->high > main_place.sp);
  CHECK(request_with(place.sp)->low <= place.sp);
  CHECK(request_with(place.sp)->high > place.sp);
  CHECK(request_with(place.sp)->low != 0);
  CHECK(request_with((uint64_t)(uintptr_t)&requests)->low == 0);
  sem_post(&place.leave);
  pthread_join(thread, NULL);
}

int main(void) {
  a_stack_contains_sp_and_control_block();
  other_stacks_are_not_read_directly();
  a_stack_with_an_unreadable_page_is_rejected();
  each_mapping_and_request_is_compared_once();
  the_list_has_its_capacity();
  stacks_of_this_process_are_found();
  return 0;
}
