/* Indexes a tree of files with several threads and profiles itself by span.
 *
 *     embed [-t SECONDS] [-j THREADS] [-o DIRECTORY] [-s SERVER] [TREE...]
 *
 * Processes every file once or, with -t, round after round for that time. Each
 * file is a span named after its kind, and each step has a label. The profiles
 * and the database are written to DIRECTORY; with -s the profiles and the spans
 * are also sent to a server. At the end, the program prints the CPU time per
 * span name twice: by its threads' own clocks, and by `spanprof report`, which
 * reads the profiles. */
#include <errno.h>
#include <pthread.h>
#include <spanprof/spanprof.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "file_work.h"

#define EMBED_THREADS_MAX 64
#define EMBED_PATH_BYTES  4096
#define EMBED_STOP_MS     5000

extern char **environ;

typedef struct embed_options {
  long seconds;
  long threads;
  const char *directory;
  const char *server; /* NULL: send nothing to a server */
  char *const *trees;
  size_t tree_count;
} embed_options;

static char *const embed_default_trees[] = {"/usr/share/doc", "/usr/include"};

/* State that the threads share. */
typedef struct embed_job {
  /* Fixed before the threads start. */
  const file_list *files;
  file_index *index;
  trace_sender *traces;
  time_t end; /* 0: stop after the first round */
  /* Number of the next file to process. It continues to grow after the end of
   * the list; the number modulo the length of the list selects a file of the
   * next round. */
  atomic_size_t next;
  atomic_int failed;
  /* Guarded by `lock`. */
  pthread_mutex_t lock;
  file_work_total totals[FILE_KIND_COUNT];
} embed_job;

static time_t embed_now_s(void) {
  struct timespec now;

  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec;
}

static int embed_is_over(const embed_job *job, size_t next) {
  return job->end ? embed_now_s() >= job->end : next >= job->files->count;
}

static void *embed_thread(void *data) {
  embed_job *job = data;
  file_work work;
  size_t kind;

  /* The library finds threads without this call, too, but it profiles a
   * registered thread from its first to its last instant. If the call fails,
   * the profile is only less precise. */
  spanprof_thread_register();
  if (file_work_init(&work, job->index, job->traces) != 0) {
    job->failed = 1;
    return NULL;
  }
  while (!job->failed) {
    size_t next = atomic_fetch_add(&job->next, 1);

    if (embed_is_over(job, next))
      break;
    if (file_work_do(&work, &job->files->entries[next % job->files->count]))
      job->failed = 1;
  }

  pthread_mutex_lock(&job->lock);
  for (kind = 0; kind < FILE_KIND_COUNT; kind++) {
    job->totals[kind].files += work.totals[kind].files;
    job->totals[kind].bytes += work.totals[kind].bytes;
    job->totals[kind].cpu_s += work.totals[kind].cpu_s;
  }
  pthread_mutex_unlock(&job->lock);
  file_work_free(&work);
  return NULL;
}

/* Run the work in threads and wait for their end. Returns 0. If a thread fails,
 * prints a message and returns -1. */
static int embed_run(embed_job *job, long threads) {
  pthread_t ids[EMBED_THREADS_MAX];
  long started, i;

  for (started = 0; started < threads; started++) {
    int error = pthread_create(&ids[started], NULL, embed_thread, job);

    if (error != 0) {
      fprintf(stderr, "embed: thread: %s\n", strerror(error));
      job->failed = 1;
      break;
    }
  }
  for (i = 0; i < started; i++)
    pthread_join(ids[i], NULL);
  return job->failed ? -1 : 0;
}

/* Start a session. If it fails, prints a message and returns NULL; the program
 * then works without a profiler. */
static spanprof_session *embed_profile(const char *directory,
                                       const char *server) {
  spanprof_options options;
  spanprof_session *session;

  spanprof_options_init(&options, sizeof options);
  options.application_name = "embed";
  options.output_directory = directory;
  options.server_address = server;
  if (spanprof_session_start(&options, &session) == SPANPROF_OK)
    return session;
  fprintf(stderr, "embed: not profiled: %s\n", spanprof_last_error());
  return NULL;
}

static void embed_print(const embed_job *job) {
  double all_s = 0;
  size_t kind;

  for (kind = 0; kind < FILE_KIND_COUNT; kind++)
    all_s += job->totals[kind].cpu_s;
  printf("\nBy the threads' own clocks:\n%10s %7s %9s %8s  span name\n",
         "CPU s", "share", "files", "MB");
  for (kind = 0; kind < FILE_KIND_COUNT; kind++) {
    const file_work_total *total = &job->totals[kind];

    if (total->files > 0)
      printf("%10.2f %6.1f%% %9zu %8.1f  %s\n", total->cpu_s,
             all_s > 0 ? 100 * total->cpu_s / all_s : 0, total->files,
             (double)total->bytes / 1e6, file_kind_name((file_kind)kind));
  }
}

/* Run `spanprof report` on the profiles. Returns 0. If it fails, prints a
 * message and returns -1. */
static int embed_report(const char *directory) {
  char *arguments[] = {"spanprof", "report", (char *)directory, NULL};
  pid_t child;
  int status = 0;
  int error;

  printf("\nBy the profiles (spanprof report %s):\n", directory);
  fflush(stdout);
  error = posix_spawnp(&child, "spanprof", NULL, NULL, arguments, environ);
  if (error != 0) {
    fprintf(stderr, "embed: spanprof: %s\n", strerror(error));
    return -1;
  }
  if (waitpid(child, &status, 0) == child && status == 0)
    return 0;
  fprintf(stderr, "embed: spanprof report failed\n");
  return -1;
}

static int embed_directory_make(const char *path) {
  if (mkdir(path, 0700) == 0 || errno == EEXIST)
    return 0;
  fprintf(stderr, "embed: %s: %s\n", path, strerror(errno));
  return -1;
}

/* Read the arguments of the program. Returns 0. If they are invalid, prints a
 * message and returns -1. */
static int embed_arguments(embed_options *options, int argc, char **argv) {
  int letter;

  options->seconds = 0;
  options->server = NULL;
  options->threads = sysconf(_SC_NPROCESSORS_ONLN);
  options->directory = "embed-out";
  options->trees = embed_default_trees;
  options->tree_count = 2;
  while ((letter = getopt(argc, argv, "t:j:o:s:")) != -1) {
    if (letter == 't')
      options->seconds = strtol(optarg, NULL, 10);
    else if (letter == 'j')
      options->threads = strtol(optarg, NULL, 10);
    else if (letter == 'o')
      options->directory = optarg;
    else if (letter == 's')
      options->server = optarg;
    else
      goto usage;
  }
  if (optind < argc) {
    options->trees = argv + optind;
    options->tree_count = (size_t)(argc - optind);
  }
  if (options->threads > EMBED_THREADS_MAX)
    options->threads = EMBED_THREADS_MAX;
  if (options->threads > 0 && options->seconds >= 0)
    return 0;

usage:
  fprintf(stderr,
          "usage: embed [-t SECONDS] [-j THREADS] [-o DIRECTORY] [-s SERVER] "
          "[TREE...]\n");
  return -1;
}

int main(int argc, char **argv) {
  embed_options options;
  char profiles[EMBED_PATH_BYTES], database[EMBED_PATH_BYTES];
  embed_job job = {.lock = PTHREAD_MUTEX_INITIALIZER};
  file_list files = {0};
  spanprof_session *session = NULL;
  int failed = 1;

  if (embed_arguments(&options, argc, argv) != 0)
    return 2;
  snprintf(profiles, sizeof profiles, "%s/profiles", options.directory);
  snprintf(database, sizeof database, "%s/files.db", options.directory);
  if (embed_directory_make(options.directory) != 0 ||
      embed_directory_make(profiles) != 0)
    return 1;
  if (file_list_read(&files, options.trees, options.tree_count) != 0 ||
      files.count == 0) {
    fprintf(stderr, "embed: no files in %s\n", options.trees[0]);
    goto cleanup;
  }
  job.files = &files;
  job.index = file_index_open(database);
  if (!job.index)
    goto cleanup;

  session = embed_profile(profiles, options.server);
  if (options.server)
    job.traces = trace_sender_start(options.server, "embed");
  printf("Indexing %zu files with %ld threads\n", files.count, options.threads);
  fflush(stdout);
  if (options.seconds > 0)
    job.end = embed_now_s() + options.seconds;
  if (file_work_prepare() == 0)
    failed = embed_run(&job, options.threads);
  trace_sender_stop(job.traces);
  if (session && spanprof_session_stop(session, EMBED_STOP_MS) != SPANPROF_OK)
    fprintf(stderr, "embed: samples were lost: %s\n", spanprof_last_error());

cleanup:
  if (file_index_close(job.index) != 0)
    failed = 1;
  file_list_free(&files);
  if (failed)
    return 1;
  embed_print(&job);
  return session && embed_report(profiles) == 0 ? 0 : 1;
}
