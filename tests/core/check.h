/* The test harness. A test program is a list of named functions, which run in
 * order. A failed CHECK prints its file, its line and its condition, and aborts
 * the program. */
#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Can a process with threads fork, and its child continue? Not with
 * ThreadSanitizer, which does not support threads in the child. Not with
 * AddressSanitizer, whose allocator (GCC 12) stays locked in the child if
 * another thread allocates during the fork. */
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
#define CHECK_FORKS 1
#else
#define CHECK_FORKS 0
#endif

typedef struct check_test {
  const char *name;
  void (*run)(void);
} check_test;

#define CHECK(condition)                            \
  do {                                              \
    if (!(condition))                               \
      check_failed(__FILE__, __LINE__, #condition); \
  } while (0)

#define CHECK_EQUAL(a, b)                                          \
  do {                                                             \
    long long check_a = (long long)(a), check_b = (long long)(b);  \
    if (check_a != check_b)                                        \
      check_unequal(__FILE__, __LINE__, #a, check_a, #b, check_b); \
  } while (0)

#define CHECK_TEXT(a, b)                                       \
  do {                                                         \
    const char *check_s = (a), *check_t = (b);                 \
    if (!check_s || !check_t || strcmp(check_s, check_t) != 0) \
      check_texts(__FILE__, __LINE__, #a, check_s, check_t);   \
  } while (0)

/* Return from a test that this machine cannot run. tests/run counts the SKIP
 * lines. */
#define CHECK_SKIP(reason)                                           \
  do {                                                               \
    fprintf(stderr, "SKIP %s %s: %s\n", __FILE__, __func__, reason); \
    return;                                                          \
  } while (0)

static inline void check_failed(const char *file, int line, const char *what) {
  fprintf(stderr, "%s:%d: not true: %s\n", file, line, what);
  abort();
}

static inline void check_unequal(const char *file, int line, const char *a,
                                 long long av, const char *b, long long bv) {
  fprintf(stderr, "%s:%d: %s is %lld, %s is %lld\n", file, line, a, av, b, bv);
  abort();
}

static inline void check_texts(const char *file, int line, const char *what,
                               const char *is, const char *expected) {
  fprintf(stderr, "%s:%d: %s\n  is       %s\n  expected %s\n", file, line, what,
          is ? is : "(null)", expected ? expected : "(null)");
  abort();
}

/* Run all tests, or, if there is an argument, those whose name contains it. */
static inline int check_main(int argc, char **argv, const check_test *tests,
                             size_t count) {
  size_t i, run = 0;

  for (i = 0; i < count; i++) {
    if (argc > 1 && !strstr(tests[i].name, argv[1]))
      continue;
    fprintf(stderr, "- %s\n", tests[i].name);
    tests[i].run();
    run++;
  }
  fprintf(stderr, "%zu tests passed\n", run);
  return run ? 0 : 1;
}

#endif
