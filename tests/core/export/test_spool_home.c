#include "export/spool/spool_home.h"

#include <fcntl.h>
#include <sys/wait.h>

#include "export_fixture.h"
#include "failing_locks.h"

/* A file in `directory`, and whether it is there. */
static void touch(const char *directory, const char *name, mode_t mode) {
  char path[256];
  int fd;

  snprintf(path, sizeof path, "%s/%s", directory, name);
  fd = open(path, O_WRONLY | O_CREAT, 0600);
  CHECK(fd >= 0);
  CHECK(fchmod(fd, mode) == 0);
  close(fd);
}

static bool there(const char *directory, const char *name) {
  char path[256];

  snprintf(path, sizeof path, "%s/%s", directory, name);
  return access(path, F_OK) == 0;
}

static char *in(const char *directory, const char *name) {
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

static void only_homes_have_their_names(void) {
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

static void an_empty_home_vanishes(void) {
  char directory[64];
  sp_spool_home home;

  directory_new(directory);
  sp_spool_home_init(&home);
  CHECK(!sp_spool_home_create(&home, &sp_mem_default, directory, 7));
  CHECK(home.own && sp_spool_home_is_name(home.name));
  CHECK(there(home.path, "lock"));
  sp_spool_home_release(&home, &sp_mem_default);
  CHECK_EQUAL(directory_count(directory, ""), 0);
  directory_remove(directory);
}

static void where_nothing_can_be_locked_nothing_is_left(void) {
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

static void the_living_keep_theirs(void) {
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

/* What a claim by another process comes to. */
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

/* As cleaners of /tmp do. */
static void a_lock_that_was_removed_is_made_anew(void) {
  char directory[64];
  sp_spool_home home;

  directory_new(directory);
  sp_spool_home_init(&home);
  CHECK(!sp_spool_home_create(&home, &sp_mem_default, directory, 7));
  CHECK(sp_spool_home_verify(&home));
  CHECK(unlink(in(home.path, "lock")) == 0);
  CHECK_EQUAL(claim_elsewhere(directory, home.name), SPANPROF_ERR_STATE);
  CHECK(!there(home.path, "lock"));
  CHECK(sp_spool_home_verify(&home));
  CHECK(there(home.path, "lock"));
  CHECK_EQUAL(claim_elsewhere(directory, home.name), SPANPROF_ERR_STATE);
  sp_spool_home_release(&home, &sp_mem_default);
  CHECK_EQUAL(directory_count(directory, ""), 0);
  directory_remove(directory);
}

static void a_home_that_has_no_lock_for_long_is_taken(void) {
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

/* Its owner was stopped for long, say. */
static void a_home_that_another_took_is_not_ours(void) {
  char directory[64], byte = 0;
  int ready[2], end[2];
  sp_spool_home home;
  pid_t pid;

  directory_new(directory);
  CHECK(pipe(ready) == 0 && pipe(end) == 0);
  sp_spool_home_init(&home);
  CHECK(!sp_spool_home_create(&home, &sp_mem_default, directory, 7));
  CHECK(unlink(in(home.path, "lock")) == 0);
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
  CHECK(there(home.path, "lock"));
  close(end[1]);
  CHECK_EQUAL(waitpid(pid, NULL, 0), pid);
  CHECK(sp_spool_home_verify(&home));
  directory_remove(home.path);
  CHECK(!sp_spool_home_verify(&home));
  sp_spool_home_abandon(&home, &sp_mem_default);
  directory_remove(directory);
}

/* Someone who could write to the spool once made a link where a home should
 * be. */
static void a_planted_link_is_left_alone(void) {
  char directory[64], victim[64];

  directory_new(directory);
  directory_new(victim);
  touch(victim, "lock", 0600);
  CHECK(symlink(victim, in(directory, "spanprof-1-1")) == 0);
  CHECK_EQUAL(claim(directory, "spanprof-1-1"), SPANPROF_ERR_IO);
  CHECK(strstr(spanprof_last_error(), "spanprof-1-1") != NULL);
  CHECK(there(victim, "lock"));
  CHECK(there(directory, "spanprof-1-1"));
  directory_remove(directory);
  directory_remove(victim);
}

static void a_home_or_lock_of_others_is_left_alone(void) {
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
    CHECK(there(home, "lock"));
    directory_remove(directory);
  }
}

static void a_lock_that_is_a_link_or_a_pipe_is_left_alone(void) {
  char directory[64], home[128], path[192];

  snprintf(home, sizeof home, "%s/spanprof-1-1", directory_new(directory));
  snprintf(path, sizeof path, "%s/lock", home);
  CHECK(mkdir(home, 0700) == 0);
  touch(directory, "victim", 0600);
  CHECK(symlink("../victim", path) == 0);
  CHECK_EQUAL(claim(directory, "spanprof-1-1"), SPANPROF_ERR_IO);
  CHECK(unlink(path) == 0 && mkfifo(path, 0600) == 0);
  CHECK_EQUAL(claim(directory, "spanprof-1-1"), SPANPROF_ERR_IO);
  CHECK(there(home, "lock"));
  directory_remove(directory);
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"only_homes_have_their_names", only_homes_have_their_names},
      {"an_empty_home_vanishes", an_empty_home_vanishes},
      {"where_nothing_can_be_locked_nothing_is_left",
       where_nothing_can_be_locked_nothing_is_left},
      {"the_living_keep_theirs", the_living_keep_theirs},
      {"a_lock_that_was_removed_is_made_anew",
       a_lock_that_was_removed_is_made_anew},
      {"a_home_that_has_no_lock_for_long_is_taken",
       a_home_that_has_no_lock_for_long_is_taken},
      {"a_home_that_another_took_is_not_ours",
       a_home_that_another_took_is_not_ours},
      {"a_planted_link_is_left_alone", a_planted_link_is_left_alone},
      {"a_home_or_lock_of_others_is_left_alone",
       a_home_or_lock_of_others_is_left_alone},
      {"a_lock_that_is_a_link_or_a_pipe_is_left_alone",
       a_lock_that_is_a_link_or_a_pipe_is_left_alone},
  };

  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
