#include "util/system/directory.h"

#include <fcntl.h>

#include "export_fixture.h"

static void only_the_users_directory_is_private(void) {
  static const struct {
    mode_t mode;
    bool own, private;
    const char *why;
  } rows[] = {
      {S_IFDIR | 0700, true, true, ""},
      {S_IFDIR | 0755, true, true, ""},
      {S_IFREG | 0600, true, true, ""},
      {S_IFDIR | 0720, true, false, "its mode is 0720"},
      {S_IFDIR | 0702, true, false, "its mode is 0702"},
      {S_IFDIR | S_ISVTX | 0777, true, false, "its mode is 1777"},
      {S_IFDIR | 0700, false, false, "belongs to user"},
      {S_IFREG | 0600, false, false, "belongs to user"},
  };
  char why[SP_DIRECTORY_WHY_BYTES];
  size_t i;

  for (i = 0; i < SP_COUNT_OF(rows); i++) {
    struct stat info = {.st_mode = rows[i].mode,
                        .st_uid = geteuid() + !rows[i].own};

    why[0] = '\0';
    CHECK_EQUAL(sp_directory_private(&info, why), rows[i].private);
    CHECK(strstr(why, rows[i].why) != NULL);
  }
}

static void a_directory_that_others_can_write_is_refused(void) {
  char directory[64], expected[128], *out;

  CHECK(chmod(directory_new(directory), 01777) == 0);
  CHECK_EQUAL(
      sp_directory_prepare(&out, &sp_mem_default, "spool_directory", directory),
      SPANPROF_ERR_IO);
  CHECK(out == NULL);
  snprintf(expected, sizeof expected,
           "spool_directory %s can be written by others (its mode is 1777)",
           directory);
  CHECK(strstr(spanprof_last_error(), expected) != NULL);
  /* The directory that the message proposes must be accepted. */
  strcat(directory, "/spanprof");
  CHECK(strstr(spanprof_last_error(), directory) != NULL);
  CHECK(!sp_directory_prepare(&out, &sp_mem_default, "x", directory));
  CHECK_TEXT(out, directory);
  sp_mem_free(&sp_mem_default, out);
  *strrchr(directory, '/') = '\0';
  directory_remove(directory);
}

static void symbolic_links_are_not_followed(void) {
  char directory[64], path[128], link_path[128];
  int fd;

  snprintf(path, sizeof path, "%s/real", directory_new(directory));
  snprintf(link_path, sizeof link_path, "%s/link", directory);
  CHECK(mkdir(path, 0700) == 0);
  CHECK(symlink("real", link_path) == 0);
  CHECK(!sp_directory_open(&fd, directory, "real"));
  close(fd);
  CHECK_EQUAL(sp_directory_open(&fd, directory, "link"), SPANPROF_ERR_IO);
  CHECK_EQUAL(fd, -1);
  CHECK_EQUAL(sp_directory_open(&fd, link_path, NULL), SPANPROF_ERR_IO);
  CHECK(strstr(spanprof_last_error(), link_path) != NULL);
  /* A parent directory that others can write is refused. */
  CHECK(chmod(path, 0770) == 0);
  CHECK_EQUAL(sp_directory_open(&fd, directory, "real"), SPANPROF_ERR_IO);
  CHECK(strstr(spanprof_last_error(), "its mode is 0770") != NULL);
  directory_remove(directory);
}

static void files_appear_complete_and_private(void) {
  static const sp_piece pieces[] = {{"one ", 4}, {"two", 3}};
  char directory[64], path[128], text[16] = "";
  mode_t before = umask(0);
  struct stat info;
  int fd;

  CHECK(!sp_directory_open(&fd, directory_new(directory), NULL));
  /* An old temporary file, left by a process that crashed, is replaced. */
  CHECK(symlinkat("/etc/passwd", fd, ".file.tmp") == 0);
  CHECK(!sp_directory_put(fd, directory, "file", pieces, 2));
  umask(before);
  CHECK(fstatat(fd, "file", &info, AT_SYMLINK_NOFOLLOW) == 0);
  CHECK_EQUAL(info.st_mode, S_IFREG | 0600);
  close(fd);
  snprintf(path, sizeof path, "%s/file", directory);
  fd = open(path, O_RDONLY);
  CHECK_EQUAL(read(fd, text, sizeof text), 7);
  CHECK_TEXT(text, "one two");
  close(fd);
  CHECK_EQUAL(directory_count(directory, ""), 1);
  directory_remove(directory);
}

static void a_failed_write_leaves_no_file(void) {
  static const sp_piece piece = {"x", 1};
  char directory[64], path[128];
  int fd;

  CHECK(!sp_directory_open(&fd, directory_new(directory), NULL));
  snprintf(path, sizeof path, "%s/file", directory);
  CHECK(mkdir(path, 0700) == 0);
  CHECK_EQUAL(sp_directory_put(fd, directory, "file", &piece, 1),
              SPANPROF_ERR_IO);
  CHECK(strstr(spanprof_last_error(), path) != NULL);
  CHECK_EQUAL(directory_count(directory, ""), 1);
  close(fd);
  directory_remove(directory);
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"only_the_users_directory_is_private",
       only_the_users_directory_is_private},
      {"a_directory_that_others_can_write_is_refused",
       a_directory_that_others_can_write_is_refused},
      {"symbolic_links_are_not_followed", symbolic_links_are_not_followed},
      {"files_appear_complete_and_private", files_appear_complete_and_private},
      {"a_failed_write_leaves_no_file", a_failed_write_leaves_no_file},
  };

  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
