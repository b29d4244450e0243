/* A process that is killed while it writes has stored all profiles of its
 * successful calls.
 *
 * The child is this program again. It writes a byte to a pipe for each
 * successful call. The parent kills the child at a random time and counts the
 * bytes. */
#include "store_fixture.h"

#include <signal.h>
#include <sys/wait.h>

#define KILL_ROUNDS  12
#define KILL_THREADS 3

static sp_store *kill_store;
static int64_t kill_base;

static void *kill_put(void *argument) {
  const sp_trace_id no_trace = {0, 0};
  int64_t number;

  for (number = (intptr_t)argument;; number += KILL_THREADS) {
    sp_received *profile =
        fixture_profile("shop", FIXTURE_TIME + kill_base + number);

    fixture_sample(profile, "main;work", "GET /", (uint64_t)number + 1,
                   no_trace, 1);
    fixture_put(kill_store, profile);
    if (write(STDOUT_FILENO, "x", 1) != 1)
      return NULL;
  }
}

static int kill_child(const char *path, const char *base) {
  pthread_t threads[KILL_THREADS];
  intptr_t i;

  snprintf(fixture_path, sizeof fixture_path, "%s", path);
  sp_log_init(&fixture_log, NULL, NULL, SPANPROF_LOG_OFF, sp_clock_system());
  kill_base = atoll(base);
  kill_store = fixture_open();
  for (i = 0; i < KILL_THREADS; i++)
    CHECK(!pthread_create(&threads[i], NULL, kill_put, (void *)i));
  for (;;) {
    sp_store_compact(kill_store);
    usleep(3000);
  }
}

/* Start a child and kill it. Returns how many of its calls succeeded. */
static int64_t kill_round(int round) {
  char base[32], bytes[512];
  int64_t confirmed = 0;
  int ends[2];
  ssize_t n;
  pid_t child;

  snprintf(base, sizeof base, "%lld", round * 1000000000LL);
  CHECK(!pipe(ends));
  child = fork();
  if (child == 0) {
    dup2(ends[1], STDOUT_FILENO);
    close(ends[0]);
    execl("/proc/self/exe", "test_store_kill", "child", fixture_path, base,
          (char *)NULL);
    _exit(127);
  }
  close(ends[1]);
  while (confirmed < 5 && (n = read(ends[0], bytes, 1)) > 0)
    confirmed += n;
  CHECK_EQUAL(5, confirmed);
  usleep((useconds_t)(round * 7919 % 40000));
  kill(child, SIGKILL);
  while ((n = read(ends[0], bytes, sizeof bytes)) > 0)
    confirmed += n;
  close(ends[0]);
  CHECK(waitpid(child, NULL, 0) == child);
  return confirmed;
}

static void confirmed_profiles_survive_a_kill(void) {
  const sp_selector selector = fixture_all();
  int64_t confirmed = 0, kept = 0, before;
  sp_store *store;
  int round;

  fixture_begin();
  for (round = 0; round < KILL_ROUNDS; round++) {
    before = kept;
    confirmed = kill_round(round);
    store = fixture_open();
    kept = fixture_sum(store, &selector, NULL);
    CHECK(kept >= before + confirmed);
    /* The profiles of calls that were running at the kill may be stored,
     * too. */
    CHECK(kept <= before + confirmed + KILL_THREADS);
    sp_store_close(store);
  }
  fixture_end();
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"confirmed_profiles_survive_a_kill", confirmed_profiles_survive_a_kill},
  };

  if (argc == 4 && strcmp(argv[1], "child") == 0)
    return kill_child(argv[2], argv[3]);
  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
