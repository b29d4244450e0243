#include "unwind_workloads.h"

#include <alloca.h>
#include <curl/curl.h>
#include <dirent.h>
#include <dlfcn.h>
#include <pthread.h>
#include <regex.h>
#include <setjmp.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

/* Results are added here, so that the compiler does not remove the work. */
static volatile uint64_t kept;
static char kept_text;

static void must(int holds, const char *what) {
  if (holds)
    return;
  fprintf(stderr, "unwind_workloads: %s failed\n", what);
  exit(1);
}

static uint32_t random_next(uint32_t *state) {
  *state = *state * 1664525u + 1013904223u;
  return *state >> 8;
}

/* ------------------------------------------------------------------- libc */

static int compare_texts(const void *a, const void *b) {
  return strcmp(*(char *const *)a, *(char *const *)b);
}

static void work_libc_text(unsigned round) {
  enum { COUNT = 400 };
  static char texts[COUNT][64];
  char *order[COUNT];
  uint32_t state = round;
  double sum = 0;
  int i;

  for (i = 0; i < COUNT; i++) {
    snprintf(texts[i], sizeof texts[i], "%.17g|%s|%08x",
             random_next(&state) / 977.0, i % 3 ? "abc" : "xyz", state);
    order[i] = texts[i];
    sum += strtod(texts[i], NULL);
  }
  qsort(order, COUNT, sizeof *order, compare_texts);
  kept += (uint64_t)sum + (uint64_t)order[0][0];
}

static void work_libc_memory(unsigned round) {
  enum { COUNT = 512 };
  void *blocks[COUNT] = {0};
  uint32_t state = round;
  int i;

  for (i = 0; i < 8 * COUNT; i++) {
    const uint32_t slot = random_next(&state) % COUNT;
    const size_t size = 16 + random_next(&state) % 6000;

    free(blocks[slot]);
    blocks[slot] = malloc(size);
    must(blocks[slot] != NULL, "malloc");
    memset(blocks[slot], i, size);
    kept += (uint64_t)memcmp(blocks[slot], blocks[slot], size);
  }
  for (i = 0; i < COUNT; i++)
    free(blocks[i]);
}

static void work_libc_regex(unsigned round) {
  regmatch_t matches[4];
  regex_t regex;
  char text[64];
  int i;

  must(regcomp(&regex, "^([a-z]+[0-9]*)+-(x|yy|[[:digit:]]{2,4})+$",
               REG_EXTENDED) == 0,
       "regcomp");
  for (i = 0; i < 60; i++) {
    snprintf(text, sizeof text, "abc%dde%d-yy%02ux", i, i * i, round % 100);
    kept += (uint64_t)regexec(&regex, text, 4, matches, 0);
  }
  regfree(&regex);
}

static void work_libc_system(unsigned round) {
  struct timespec now;
  DIR *dir = opendir("/proc/self/fd");
  int i;

  (void)round;
  must(dir != NULL, "opendir");
  while (readdir(dir))
    kept++;
  closedir(dir);
  for (i = 0; i < 20000; i++) {
    clock_gettime(CLOCK_MONOTONIC, &now); /* in the vDSO */
    kept += (uint64_t)now.tv_nsec;
  }
}

/* ----------------------------------------------------------------- sqlite */

static sqlite3 *database;

static void sql(const char *text) {
  must(sqlite3_exec(database, text, NULL, NULL, NULL) == SQLITE_OK, text);
}

static void work_sqlite(unsigned round) {
  char text[256];
  int i;

  sql("DELETE FROM t; BEGIN");
  for (i = 0; i < 200; i++) {
    snprintf(text, sizeof text,
             "INSERT INTO t VALUES(%d, 'name %u', abs(random()) %% 1000, "
             "hex(randomblob(%d)))",
             i, round * 7919u + (unsigned)i, i % 90);
    sql(text);
  }
  sql("COMMIT");
  sql("SELECT a.name, count(*), max(b.blob) FROM t a JOIN t b "
      "ON a.n = b.n WHERE a.blob LIKE '%A1%' GROUP BY a.name ORDER BY 2, 1");
  sql("UPDATE t SET n = n + 1 WHERE id % 3 = 0");
  sql("WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT "
      "500) SELECT sum(x) FROM c");
}

/* ------------------------------------------------------------------- zlib */

static void work_zlib(unsigned round) {
  static unsigned char plain[60000], packed[70000], again[60000];
  uLongf packed_size = sizeof packed, again_size = sizeof again;
  uint32_t state = round;
  size_t i;

  for (i = 0; i < sizeof plain; i++)
    plain[i] = i > 40 && random_next(&state) % 4 ? plain[i - 37]
                                                 : (unsigned char)state;
  must(compress2(packed, &packed_size, plain, sizeof plain,
                 1 + (int)(round % 9)) == Z_OK,
       "compress2");
  must(uncompress(again, &again_size, packed, packed_size) == Z_OK,
       "uncompress");
  kept += crc32(0, again, (uInt)again_size);
}

/* ------------------------------------------------------------------- curl */

static size_t curl_take(char *bytes, size_t size, size_t n, void *data) {
  (void)bytes;
  (void)data;
  return size * n;
}

static void work_curl(unsigned round) {
  CURL *curl = curl_easy_init();
  CURLU *url = curl_url();
  char *text = NULL, target[128];

  must(curl && url, "curl_easy_init");
  snprintf(target, sizeof target, "file:///etc/../etc/./passwd?%u", round);
  curl_easy_setopt(curl, CURLOPT_URL, "file:///etc/passwd");
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, curl_take);
  must(curl_easy_perform(curl) == CURLE_OK, "curl_easy_perform");
  /* Refused immediately, because nothing listens on port 1. */
  curl_easy_setopt(curl, CURLOPT_URL, "http://127.0.0.1:1/");
  curl_easy_setopt(curl, CURLOPT_PROXY, "");
  kept += curl_easy_perform(curl);
  if (curl_url_set(url, CURLUPART_URL, target, 0) == CURLUE_OK &&
      curl_url_get(url, CURLUPART_URL, &text, 0) == CURLUE_OK)
    kept += strlen(text);
  curl_free(text);
  curl_url_cleanup(url);
  curl_easy_cleanup(curl);
}

/* ----------------------------------------------- hand-written vector code */

typedef int (*digest_fn)(const void *data, size_t count, unsigned char *md,
                         unsigned int *size, const void *type, void *impl);
typedef const void *(*digest_type_fn)(void);

static digest_fn digest;
static digest_type_fn digest_types[4];

static void crypto_begin(void) {
  static const char *const names[4] = {"EVP_sha1", "EVP_sha256", "EVP_sha512",
                                       "EVP_sha3_256"};
  void *library = dlopen("libcrypto.so.3", RTLD_NOW | RTLD_LOCAL);
  size_t i;

  if (!library)
    return;
  *(void **)&digest = dlsym(library, "EVP_Digest");
  for (i = 0; i < 4; i++)
    *(void **)&digest_types[i] = dlsym(library, names[i]);
}

static void work_crypto(unsigned round) {
  static unsigned char bytes[100000];
  unsigned char md[64];
  unsigned size;
  int i;

  if (!digest)
    return;
  for (i = 0; i < 4; i++) {
    digest(bytes, sizeof bytes - round % 512, md, &size, digest_types[i](),
           NULL);
    bytes[round % sizeof bytes] ^= md[0];
  }
}

/* ------------------------------------------------- C++, loaded at run time */

typedef unsigned (*throws_fn)(unsigned round);

static throws_fn throws;

static void throws_begin(void) {
#ifdef UNWIND_THROWS
  void *library = dlopen(UNWIND_THROWS, RTLD_NOW | RTLD_LOCAL);

  must(library != NULL, UNWIND_THROWS);
  *(void **)&throws = dlsym(library, "unwind_throws");
#endif
}

static void work_throws(unsigned round) {
  if (throws)
    kept += throws(round);
}

/* ------------------------------------------------------- unusual programs */

__attribute__((noinline)) static uint64_t recurse(unsigned depth) {
  volatile char block[600];

  block[depth % sizeof block] = (char)depth;
  if (depth == 0) {
    int i;

    for (i = 0; i < 300; i++)
      kept += (uint64_t)i * 7;
    return (uint64_t)block[0];
  }
  return recurse(depth - 1) + (uint64_t)block[depth % sizeof block];
}

static void work_deep(unsigned round) {
  (void)round;
  kept += recurse(240); /* about 150 KB, more than a sample copies */
}

/* A frame whose size is known at run time only. */
__attribute__((noinline)) static void work_alloca(unsigned round) {
  uint32_t state = round;
  int i;

  for (i = 0; i < 200; i++) {
    const size_t size = 16 + random_next(&state) % 3000;
    char *block = alloca(size % 256 + 1);

    memset(block, i, size % 256 + 1);
    kept += (uint64_t)block[size % 256];
  }
}

static int compare_numbers(const void *a, const void *b) {
  const uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

  return left < right ? -1 : left > right;
}

/* A frame with a realigned stack pointer, so that its CFA (canonical frame
 * address) is a DWARF expression. */
__attribute__((noinline)) static void realigned(unsigned round,
                                                uint64_t *sums) {
  uint64_t block[64] __attribute__((aligned(64)));
  size_t i;

  for (i = 0; i < 64; i++)
    block[i] = i * round + *sums;
  __asm__ volatile("" : : "r"(block) : "memory");
  for (i = 0; i < 64; i++)
    *sums += block[i];
  qsort(block, 64, sizeof *block, compare_numbers);
}

static void work_realigned(unsigned round) {
  uint64_t sums = round;
  int i;

  for (i = 0; i < 100; i++)
    realigned(round, &sums);
  kept += sums;
}

static jmp_buf jump;

__attribute__((noinline)) static void jump_out(unsigned depth) {
  if (depth == 0)
    longjmp(jump, 1);
  if (depth < 1000)
    jump_out(depth - 1);
  kept++;
}

static void work_longjmp(unsigned round) {
  volatile unsigned i;

  for (i = 0; i < 2000; i++)
    if (setjmp(jump) == 0)
      jump_out((round + i) % 20);
}

/* Threads that exit by unwinding their own stacks. */
static void thread_cleanup(void *data) {
  (void)data;
  kept++;
}

static void *thread_exits(void *data) {
  pthread_cleanup_push(thread_cleanup, NULL);
  if (data)
    pthread_exit(NULL);
  pthread_cleanup_pop(1);
  return NULL;
}

static void work_threads(unsigned round) {
  pthread_t thread;

  if (pthread_create(&thread, NULL, thread_exits, round % 4 ? &kept_text : 0) ==
      0)
    pthread_join(thread, NULL);
}

/* Work in a signal handler that runs on the stack of the interrupted thread. */
static void handler_work(int number) {
  int i;

  (void)number;
  for (i = 0; i < 4000; i++)
    kept += (uint64_t)i;
  kept += (uint64_t)rand();
}

static void work_handler(unsigned round) {
  int i;

  (void)round;
  for (i = 0; i < 50; i++)
    raise(SIGUSR2);
}

const unwind_workload unwind_workloads[] = {
    {"libc text", work_libc_text, true},
    {"libc memory", work_libc_memory, true},
    {"libc regex", work_libc_regex, true},
    {"libc system", work_libc_system, true},
    {"sqlite", work_sqlite, true},
    {"zlib", work_zlib, true},
    {"curl", work_curl, true},
    {"crypto", work_crypto, true},
    {"deep recursion", work_deep, false},
    {"alloca", work_alloca, false},
    {"realigned stack", work_realigned, false},
    {"longjmp", work_longjmp, false},
    {"threads", work_threads, false},
    {"C++ exceptions", work_throws, false},
    {"signal handler", work_handler, false},
};
const size_t unwind_workload_count =
    sizeof unwind_workloads / sizeof *unwind_workloads;

void unwind_workloads_begin(void) {
  struct sigaction action = {.sa_handler = handler_work};

  sigaction(SIGUSR2, &action, NULL);
  curl_global_init(CURL_GLOBAL_DEFAULT);
  must(sqlite3_open(":memory:", &database) == SQLITE_OK, "sqlite3_open");
  sql("CREATE TABLE t(id INTEGER PRIMARY KEY, name TEXT, n INTEGER, blob "
      "TEXT); CREATE INDEX i ON t(n)");
  crypto_begin();
  throws_begin();
}
