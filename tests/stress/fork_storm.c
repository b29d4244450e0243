/* A process with working threads forks continuously. Its children work in a
 * span, fork again, and end by exit(). Each child writes its profiles. They are
 * complete, and contain the child's own work and no work of its parent. No
 * child hangs. */
#include "stress_run.h"

#include <dirent.h>
#include <signal.h>
#include <sys/wait.h>

#define STORM_WORKERS    2
#define STORM_TOGETHER   4
#define STORM_DEADLINE_S 60
#define STORM_CHILD_NS   (40 * STRESS_NS_PER_MS)

static char storm_directory[] = "/tmp/spanprof-storm-XXXXXX";
static _Atomic bool work_over;

/* Numbers of ticks in the profiles of one process. */
typedef struct storm_seen {
  uint64_t parent_ticks;
  uint64_t child_ticks;
  /* ticks in code of a child, but without the child's span */
  uint64_t other_ticks;
} storm_seen;

STRESS_NAMED static void storm_parent_burn(void) {
  stress_burn(STRESS_NS_PER_MS);
  STRESS_STAY;
}

STRESS_NAMED static void storm_child_burn(void) {
  stress_burn(STORM_CHILD_NS);
  STRESS_STAY;
}

static spanprof_span span_begin(const char *name, spanprof_span_token *token) {
  spanprof_span_info info = {.struct_size = sizeof info,
                             .flags = SPANPROF_SPAN_SAMPLED,
                             .name = name,
                             .name_bytes = strlen(name)};
  spanprof_span span;

  STRESS_OK(spanprof_span_start(NULL, &info, &span));
  STRESS_OK(spanprof_span_enter(span, token));
  return span;
}

/* Work in the parent's span. Threads do this while another thread forks. */
static void *worker_run(void *data) {
  (void)data;
  while (!atomic_load(&work_over)) {
    spanprof_label_token label;
    spanprof_span_token token;
    spanprof_span span = span_begin("parent", &token);
    void *block = malloc(3000);

    STRESS_OK(spanprof_label_push_bytes("of", 2, "parent", 6, &label));
    storm_parent_burn();
    spanprof_label_pop(label);
    free(block);
    spanprof_span_leave(token);
    spanprof_span_end(span);
  }
  return NULL;
}

static void child_wait(pid_t pid, const char *kind) {
  int status;

  STRESS_REQUIRE(pid > 0 && waitpid(pid, &status, 0) == pid, "no child");
  STRESS_REQUIRE(!WIFSIGNALED(status), "a %s died of signal %d%s", kind,
                 WTERMSIG(status),
                 WTERMSIG(status) == SIGALRM ? ": it hung" : "");
  STRESS_REQUIRE(WEXITSTATUS(status) == 0, "a %s ended with %d", kind,
                 WEXITSTATUS(status));
}

static void accounts_check(void) {
  spanprof_stats s = stress_stats();

  STRESS_REQUIRE(s.samples_taken ==
                         s.samples_exported + stress_stats_dropped(&s) &&
                     s.samples_taken > 0,
                 "taken %llu, exported %llu, dropped %llu",
                 (unsigned long long)s.samples_taken,
                 (unsigned long long)s.samples_exported,
                 (unsigned long long)stress_stats_dropped(&s));
}

/* Run in a forked child. Works in the child's own span, forks a child that does
 * the same if `generations` is not 0, and calls exit(), after a stop of the
 * session if `stop` is true. */
static void child_run(unsigned generations, bool stop) {
  spanprof_span_token token;
  spanprof_span span;
  pid_t pid;

  for (;;) {
    alarm(STORM_DEADLINE_S);
    span = span_begin("child", &token);
    storm_child_burn();
    pid = generations > 0 ? fork() : -1;
    if (pid != 0)
      break;
    generations--;
    stop = !stop;
  }
  if (generations > 0)
    child_wait(pid, "grandchild");
  spanprof_span_leave(token);
  spanprof_span_end(span);
  if (!stop)
    exit(0);
  spanprof_session_stop(spanprof_session_current(), 20000);
  accounts_check();
  _exit(0);
}

static void storm_sample(void *data, const tally_sample *sample) {
  storm_seen *seen = data;
  bool child = tally_sample_has(sample, "storm_child_burn");

  if (tally_sample_has(sample, "storm_parent_burn") ||
      strcmp(sample->span_name, "parent") == 0)
    seen->parent_ticks += sample->ticks;
  else if (child && strcmp(sample->span_name, "child") == 0)
    seen->child_ticks += sample->ticks;
  else if (child)
    seen->other_ticks += sample->ticks;
}

/* Read and remove the profiles of a process. */
static storm_seen files_read(pid_t pid) {
  storm_seen seen = {0};
  char part[64];
  tally sum;

  snprintf(part, sizeof part, "-%d-", (int)pid);
  tally_init(&sum);
  sum.on_sample = storm_sample;
  sum.on_sample_data = &seen;
  tally_directory(&sum, storm_directory, part);
  tally_dispose(&sum);
  return seen;
}

static void directory_remove(void) {
  DIR *entries = opendir(storm_directory);
  struct dirent *entry;
  char path[4096];

  while (entries && (entry = readdir(entries))) {
    snprintf(path, sizeof path, "%s/%s", storm_directory, entry->d_name);
    if (entry->d_name[0] != '.')
      unlink(path);
  }
  if (entries)
    closedir(entries);
  rmdir(storm_directory);
}

static uint64_t children_round(unsigned round) {
  pid_t pids[STORM_TOGETHER];
  uint64_t ticks = 0;
  unsigned i;

  for (i = 0; i < STORM_TOGETHER; i++) {
    pids[i] = fork();
    if (pids[i] == 0)
      child_run(i == 0 ? 2 : 0, (round + i) % 2);
    storm_parent_burn();
  }
  for (i = 0; i < STORM_TOGETHER; i++) {
    storm_seen seen;

    child_wait(pids[i], "child");
    seen = files_read(pids[i]);
    STRESS_REQUIRE(seen.child_ticks > 0,
                   "child %d: its profiles have no sample of its work",
                   (int)pids[i]);
    STRESS_REQUIRE(seen.parent_ticks == 0,
                   "child %d: its profiles have %llu ticks of its parent",
                   (int)pids[i], (unsigned long long)seen.parent_ticks);
    STRESS_REQUIRE(seen.other_ticks == 0,
                   "child %d: %llu ticks of its work are not in its span",
                   (int)pids[i], (unsigned long long)seen.other_ticks);
    ticks += seen.child_ticks;
  }
  return ticks;
}

int main(void) {
  uint64_t until_ns = stress_begin(), ticks = 0;
  pthread_t threads[STORM_WORKERS];
  static stress_run run;
  storm_seen seen;
  unsigned i, rounds;

  stress_wall_hz(STRESS_TSAN ? "250" : "1000");
  STRESS_REQUIRE(mkdtemp(storm_directory), "no directory");
  stress_run_init(&run, "fork_storm");
  run.options.on_profile = NULL;
  run.options.output_directory = storm_directory;
  stress_run_start(&run);
  for (i = 0; i < STORM_WORKERS; i++)
    pthread_create(&threads[i], NULL, worker_run, NULL);
  for (rounds = 0; rounds == 0 || stress_now_ns() < until_ns; rounds++)
    ticks += children_round(rounds);
  atomic_store(&work_over, true);
  for (i = 0; i < STORM_WORKERS; i++)
    pthread_join(threads[i], NULL);
  stress_run_stop(&run, 20000);
  seen = files_read(getpid());
  STRESS_REQUIRE(
      seen.parent_ticks > 0 && seen.child_ticks == 0,
      "the parent's profiles have %llu ticks of the parent, %llu of children",
      (unsigned long long)seen.parent_ticks,
      (unsigned long long)seen.child_ticks);
  directory_remove();
  printf("%u forks, %llu ticks in children; ", rounds * (STORM_TOGETHER + 2),
         (unsigned long long)ticks);
  stress_run_print(&run);
  stress_run_dispose(&run);
  return 0;
}
