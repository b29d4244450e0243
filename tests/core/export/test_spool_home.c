/* Tests of homes: the directories of processes in the spool. */
#include "export/spool/spool_home.h"

#include <fcntl.h>
#include <sys/wait.h>

#include "export_fixture.h"
#include "failing_locks.h"

/* Create an empty file in `directory`. */
static void touch(const char *directory, const char *name, mode_t mode) {
  char path[256];
  int fd;

  snprintf(path, sizeof path, "%s/%s", directory, name);
  fd = open(path, O_WRONLY | O_CREAT, 0600);
  CHECK(fd >= 0);
  CHECK(fchmod(fd, mode) == 0);
  close(fd);
}

static bool exists(const char *directory, const char *name) {
  char path[256];

  snprintf(path, sizeof path, "%s/%s", directory, name);
  return access(path, F_OK) == 0;
}

static char *path_in(const char *directory, const char *name) {
  static char path[256];

  snprintf(path, sizeof path, "%s/%s", directory, name);
  return path;
}

static spanprof_status claim(const char *spool, const char *name) {
  sp_spool_home home;
  spanprof_status st;

  sp_spool_home_init(&home);
  st = sp_spool_home_claim(&home, &sp_mem_default, spool, name,
                           (uint64_t)time(NULL) * SP_NS_PER_S);
  if (!st)
    sp_spool_home_release(&home, &sp_mem_default);
  return st;
}

static void names_of_homes_are_recognized(void) {
  static const struct {
    const char *name;
    bool home;
  } rows[] = {
      {"spanprof-1-2", true},
      {"spanprof-4711-1790000000000000000", true},
      {"spanprof-1", false},
      {"spanprof-1-", false},
      {"spanprof-1-2-3", false},
      {"spanprof-01-2", false},
      {"spanprof--1-2", false},
      {"other-1-2", false},
      {"spanprof-1-99999999999999999999", false},
      {"", false},
  };
  size_t i;

  for (i = 0; i < SP_COUNT_OF(rows); i++)
    CHECK_EQUAL(sp_spool_home_is_name(rows[i].name), rows[i].home);
}

static void an_empty_home_is_removed(void) {
  char directory[64];
  sp_spool_home home;

  directory_new(directory);
  sp_spool_home_init(&home);
  CHECK(!sp_spool_home_create(&home, &sp_mem_default, directory, 7));
  CHECK(home.own && sp_spool_home_is_name(home.name));
  CHECK(exists(home.path, "lock"));
  sp_spool_home_release(&home, &sp_mem_default);
  CHECK_EQUAL(directory_count(directory, ""), 0);
  directory_remove(directory);
}

static void without_locks_no_home_is_left(void) {
  char directory[64];
  sp_spool_home home;

  directory_new(directory);
  sp_spool_home_init(&home);
  locks_fail = true;
  CHECK_EQUAL(sp_spool_home_create(&home, &sp_mem_default, directory, 7),
              SPANPROF_ERR_SYSTEM);
  CHECK(strstr(spanprof_last_error(), directory) != NULL);
  CHECK_EQUAL(directory_count(directory, ""), 0);
  locks_fail = false;
  CHECK(!sp_spool_home_create(&home, &sp_mem_default, directory, 7));
  sp_spool_home_release(&home, &sp_mem_default);
  directory_remove(directory);
}

static void living_processes_keep_their_files(void) {
  char directory[64];
  sp_spool_home home;
  int status;
  pid_t pid;

  directory_new(directory);
  sp_spool_home_init(&home);
  CHECK(!sp_spool_home_create(&home, &sp_mem_default, directory, 7));
  pid = fork();
  CHECK(pid >= 0);
  if (pid == 0)
    _exit(claim(directory, home.name) != SPANPROF_ERR_STATE);
  CHECK_EQUAL(waitpid(pid, &status, 0), pid);
  CHECK_EQUAL(status, 0);
  sp_spool_home_release(&home, &sp_mem_default);
  CHECK_EQUAL(claim(directory, "spanprof-1-1"), SPANPROF_ERR_STATE);
  directory_remove(directory);
}

/* Return the status of a claim of the home by another process. */
static spanprof_status claim_elsewhere(const char *spool, const char *name) {
  pid_t pid = fork();
  int status;

  CHECK(pid >= 0);
  if (pid == 0)
    _exit((int)-claim(spool, name));
  CHECK_EQUAL(waitpid(pid, &status, 0), pid);
  CHECK(WIFEXITED(status));
  return (spanprof_status)-WEXITSTATUS(status);
}

/* Programs that clean /tmp may remove the lock file. */
static void a_removed_lock_is_created_again(void) {
  char directory[64];
  sp_spool_home home;

  directory_new(directory);
  sp_spool_home_init(&home);
  CHECK(!sp_spool_home_create(&home, &sp_mem_default, directory, 7));
  CHECK(sp_spool_home_verify(&home));
  CHECK(unlink(path_in(home.path, "lock")) == 0);
  CHECK_EQUAL(claim_elsewhere(directory, home.name), SPANPROF_ERR_STATE);
  CHECK(!exists(home.path, "lock"));
  CHECK(sp_spool_home_verify(&home));
  CHECK(exists(home.path, "lock"));
  CHECK_EQUAL(claim_elsewhere(directory, home.name), SPANPROF_ERR_STATE);
  sp_spool_home_release(&home, &sp_mem_default);
  CHECK_EQUAL(directory_count(directory, ""), 0);
  directory_remove(directory);
}

static void a_home_without_lock_for_long_is_taken_over(void) {
  char directory[64], path[128];
  struct timespec times[2] = {{0}};

  snprintf(path, sizeof path, "%s/spanprof-1-1", directory_new(directory));
  CHECK(mkdir(path, 0700) == 0);
  times[1].tv_sec = time(NULL) - 500;
  CHECK(utimensat(AT_FDCWD, path, times, 0) == 0);
  CHECK_EQUAL(claim(directory, "spanprof-1-1"), SPANPROF_ERR_STATE);
  times[1].tv_sec -= 500;
  CHECK(utimensat(AT_FDCWD, path, times, 0) == 0);
  CHECK_EQUAL(claim(directory, "spanprof-1-1"), SPANPROF_OK);
  CHECK_EQUAL(directory_count(directory, ""), 0);
  directory_remove(directory);
}

/* Another process takes over a home, for example, if the home's owner was
 * stopped for a long time. */
static void a_home_taken_by_another_process_is_lost(void) {
  char directory[64], byte = 0;
  int ready[2], end[2];
  sp_spool_home home;
  pid_t pid;

  directory_new(directory);
  CHECK(pipe(ready) == 0 && pipe(end) == 0);
  sp_spool_home_init(&home);
  CHECK(!sp_spool_home_create(&home, &sp_mem_default, directory, 7));
  CHECK(unlink(path_in(home.path, "lock")) == 0);
  pid = fork();
  CHECK(pid >= 0);
  if (pid == 0) {
    sp_spool_home taken;

    sp_spool_home_init(&taken);
    touch(home.path, "lock", 0600);
    close(end[1]);
    _exit(
        sp_spool_home_claim(&taken, &sp_mem_default, directory, home.name, 0) ||
        write(ready[1], &byte, 1) != 1 || read(end[0], &byte, 1) != 0);
  }
  close(end[0]);
  CHECK_EQUAL(read(ready[0], &byte, 1), 1);
  CHECK(!sp_spool_home_verify(&home));
  CHECK(exists(home.path, "lock"));
  close(end[1]);
  CHECK_EQUAL(waitpid(pid, NULL, 0), pid);
  CHECK(sp_spool_home_verify(&home));
  directory_remove(home.path);
  CHECK(!sp_spool_home_verify(&home));
  sp_spool_home_abandon(&home, &sp_mem_default);
  directory_remove(directory);
}

/* A user who once had write access to the spool has made a link that looks like
 * a home. */
static void a_planted_link_is_not_touched(void) {
  char directory[64], victim[64];

  directory_new(directory);
  directory_new(victim);
  touch(victim, "lock", 0600);
  CHECK(symlink(victim, path_in(directory, "spanprof-1-1")) == 0);
  CHECK_EQUAL(claim(directory, "spanprof-1-1"), SPANPROF_ERR_IO);
  CHECK(strstr(spanprof_last_error(), "spanprof-1-1") != NULL);
  CHECK(exists(victim, "lock"));
  CHECK(exists(directory, "spanprof-1-1"));
  directory_remove(directory);
  directory_remove(victim);
}

static void a_home_or_lock_of_other_users_is_not_touched(void) {
  static const struct {
    mode_t home, lock;
  } rows[] = {{0770, 0600}, {0707, 0600}, {0700, 0620}, {0700, 0602}};
  char directory[64], home[128];
  size_t i;

  for (i = 0; i < SP_COUNT_OF(rows); i++) {
    snprintf(home, sizeof home, "%s/spanprof-1-1", directory_new(directory));
    CHECK(mkdir(home, 0700) == 0 && chmod(home, rows[i].home) == 0);
    touch(home, "lock", rows[i].lock);
    CHECK_EQUAL(claim(directory, "spanprof-1-1"), SPANPROF_ERR_IO);
    CHECK(strstr(spanprof_last_error(), home) != NULL);
    CHECK(exists(home, "lock"));
    directory_remove(directory);
  }
}

static void a_lock_that_is_a_link_or_pipe_is_not_touched(void) {
  char directory[64], home[128], path[192];

  snprintf(home, sizeof home, "%s/spanprof-1-1", directory_new(directory));
  snprintf(path, sizeof path, "%s/lock", home);
  CHECK(mkdir(home, 0700) == 0);
  touch(directory, "victim", 0600);
  CHECK(symlink("../victim", path) == 0);
  CHECK_EQUAL(claim(directory, "spanprof-1-1"), SPANPROF_ERR_IO);
  CHECK(unlink(path) == 0 && mkfifo(path, 0600) == 0);
  CHECK_EQUAL(claim(directory, "spanprof-1-1"), SPANPROF_ERR_IO);
  CHECK(exists(home, "lock"));
  directory_remove(directory);
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"names_of_homes_are_recognized", names_of_homes_are_recognized},
      {"an_empty_home_is_removed", an_empty_home_is_removed},
      {"without_locks_no_home_is_left", without_locks_no_home_is_left},
      {"living_processes_keep_their_files", living_processes_keep_their_files},
      {"a_removed_lock_is_created_again", a_removed_lock_is_created_again},
      {"a_home_without_lock_for_long_is_taken_over",
       a_home_without_lock_for_long_is_taken_over},
      {"a_home_taken_by_another_process_is_lost",
       a_home_taken_by_another_process_is_lost},
      {"a_planted_link_is_not_touched", a_planted_link_is_not_touched},
      {"a_home_or_lock_of_other_users_is_not_touched",
       a_home_or_lock_of_other_users_is_not_touched},
      {"a_lock_that_is_a_link_or_pipe_is_not_touched",
       a_lock_that_is_a_link_or_pipe_is_not_touched},
  };

  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
