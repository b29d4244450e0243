/* Functions that programs call often allocate no memory after their first call.
 * The tests count allocations and do not measure times. */
#include "check.h"
#include "label/context.h"
#include "util/memory/mem.h"

#define BUDGET_ROUNDS 10000

/* Number of allocations of the calling thread. They are counted in replacements
 * of malloc(), calloc() and realloc(), or, if a sanitizer has its own
 * allocator, in the hooks of that allocator (sanitizer/allocator_interface.h,
 * LLVM 14). */
static _Thread_local volatile uint64_t budget_allocations;

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define BUDGET_HOOKS 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define BUDGET_HOOKS 1
#endif

#if defined(BUDGET_HOOKS)
extern int __sanitizer_install_malloc_and_free_hooks(
    void (*allocated)(const volatile void *, size_t),
    void (*freed)(const volatile void *));

static void allocation_seen(const volatile void *p, size_t size) {
  (void)p, (void)size;
  budget_allocations++;
}

static void release_seen(const volatile void *p) {
  (void)p;
}

static void allocations_watch(void) {
  CHECK(__sanitizer_install_malloc_and_free_hooks(allocation_seen,
                                                  release_seen) != 0);
}
#else
/* glibc's functions. The replacements call them by these names (glibc 2.36,
 * manual 3.2.5). */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *old, size_t size);

void *malloc(size_t size) {
  budget_allocations++;
  return __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
  budget_allocations++;
  return __libc_calloc(count, size);
}

void *realloc(void *old, size_t size) {
  budget_allocations++;
  return __libc_realloc(old, size);
}

static void allocations_watch(void) {
}
#endif

static uint64_t allocations_of(void (*run)(size_t rounds)) {
  uint64_t before;

  run(2);
  before = budget_allocations;
  run(BUDGET_ROUNDS);
  return budget_allocations - before;
}

static void strings_pushed(size_t rounds) {
  spanprof_label_token outer, inner;

  for (; rounds > 0; rounds--) {
    CHECK_EQUAL(
        spanprof_label_push_bytes("controller", 10, "orders", 6, &outer), 0);
    CHECK_EQUAL(spanprof_label_push_bytes("action", 6, "show", 4, &inner), 0);
    spanprof_label_pop(inner);
    spanprof_label_pop(outer);
  }
}

static void texts_pushed(size_t rounds) {
  spanprof_label_token token;
  spanprof_text_id name, value;

  CHECK_EQUAL(spanprof_text_intern("controller", 10, &name), 0);
  CHECK_EQUAL(spanprof_text_intern("orders", 6, &value), 0);
  for (; rounds > 0; rounds--) {
    CHECK_EQUAL(spanprof_label_push_ids(name, value, &token), 0);
    spanprof_label_pop(token);
  }
}

static void labels_switched(size_t rounds) {
  spanprof_labels before = spanprof_labels_get();
  spanprof_label_token token;
  spanprof_labels set;

  CHECK_EQUAL(spanprof_label_push_bytes("controller", 10, "orders", 6, &token),
              0);
  set = spanprof_labels_get();
  spanprof_label_pop(token);
  for (; rounds > 0; rounds--) {
    spanprof_labels_set(set);
    spanprof_labels_set(before);
  }
}

static void span_entered(size_t rounds) {
  static spanprof_span span;
  spanprof_span_info info = {.struct_size = sizeof info,
                             .flags = SPANPROF_SPAN_SAMPLED,
                             .name = "GET /orders",
                             .name_bytes = 11};
  spanprof_span_token token;

  if (span == 0)
    CHECK_EQUAL(spanprof_span_start(NULL, &info, &span), 0);
  for (; rounds > 0; rounds--) {
    CHECK_EQUAL(spanprof_span_enter(span, &token), 0);
    spanprof_span_leave(token);
  }
}

static void context_switched(size_t rounds) {
  static spanprof_context *context;

  if (!context)
    CHECK_EQUAL(spanprof_context_new(&context), 0);
  for (; rounds > 0; rounds--) {
    spanprof_context *before = spanprof_context_switch(context);

    CHECK(spanprof_context_switch(before) == context);
  }
}

/* Checks that the test counts allocations at all. */
static void an_allocation_is_counted(void) {
  uint64_t before = budget_allocations;
  char *volatile p = malloc(16);

  free(p);
  CHECK(budget_allocations > before);
}

static void pushing_strings_again_allocates_nothing(void) {
  CHECK_EQUAL(allocations_of(strings_pushed), 0);
}

static void pushing_texts_again_allocates_nothing(void) {
  CHECK_EQUAL(allocations_of(texts_pushed), 0);
}

static void switching_labels_allocates_nothing(void) {
  CHECK_EQUAL(allocations_of(labels_switched), 0);
}

static void entering_a_span_allocates_nothing(void) {
  CHECK_EQUAL(allocations_of(span_entered), 0);
}

static void switching_contexts_allocates_nothing(void) {
  CHECK_EQUAL(allocations_of(context_switched), 0);
}

/* A thread that has used labels keeps an sp_self record until it ends. */
static void a_thread_uses_less_than_four_kilobytes(void) {
  CHECK(sizeof(sp_self) <= 4096);
}

static const check_test tests[] = {
    {"an_allocation_is_counted", an_allocation_is_counted},
    {"pushing_strings_again_allocates_nothing",
     pushing_strings_again_allocates_nothing},
    {"pushing_texts_again_allocates_nothing",
     pushing_texts_again_allocates_nothing},
    {"switching_labels_allocates_nothing", switching_labels_allocates_nothing},
    {"entering_a_span_allocates_nothing", entering_a_span_allocates_nothing},
    {"switching_contexts_allocates_nothing",
     switching_contexts_allocates_nothing},
    {"a_thread_uses_less_than_four_kilobytes",
     a_thread_uses_less_than_four_kilobytes},
};

int main(int argc, char **argv) {
  allocations_watch();
  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
