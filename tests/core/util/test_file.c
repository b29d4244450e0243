#include "util/system/file.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "export_fixture.h"

static void readable_and_unreadable_files_are_distinguished(void) {
  char directory[64], path[128], missing[128], link_path[128], pipe_path[128];

  directory_new(directory);
  snprintf(path, sizeof path, "%s/file", directory);
  snprintf(missing, sizeof missing, "%s/gone", directory);
  snprintf(link_path, sizeof link_path, "%s/link", directory);
  snprintf(pipe_path, sizeof pipe_path, "%s/pipe", directory);
  close(open(path, O_CREAT | O_WRONLY, 0600));
  CHECK(symlink(path, link_path) == 0);
  CHECK(mkfifo(pipe_path, 0600) == 0);
  CHECK_EQUAL(sp_file_readable(path), 0);
  CHECK_EQUAL(sp_file_readable(link_path), 0);
  /* The pipe has no writer, but the call must not block. */
  CHECK_EQUAL(sp_file_readable(pipe_path), 0);
  CHECK_EQUAL(sp_file_readable(directory), EISDIR);
  CHECK_EQUAL(sp_file_readable(missing), ENOENT);
  directory_remove(directory);
}

static void only_small_private_regular_files_are_ours(void) {
  static const struct {
    mode_t mode;
    bool own;
    off_t size;
    bool ours;
  } rows[] = {
      {S_IFREG | 0600, true, 100, true},  {S_IFREG | 0644, true, 0, true},
      {S_IFREG | 0600, true, 101, false}, {S_IFREG | 0620, true, 1, false},
      {S_IFREG | 0602, true, 1, false},   {S_IFREG | 0600, false, 1, false},
      {S_IFIFO | 0600, true, 0, false},   {S_IFDIR | 0700, true, 1, false},
      {S_IFREG | 0600, true, -1, false},
  };
  size_t i;

  for (i = 0; i < SP_COUNT_OF(rows); i++) {
    struct stat info = {.st_mode = rows[i].mode,
                        .st_uid = geteuid() + !rows[i].own,
                        .st_size = rows[i].size};

    CHECK_EQUAL(sp_file_is_ours(&info, 100), rows[i].ours);
  }
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"readable_and_unreadable_files_are_distinguished",
       readable_and_unreadable_files_are_distinguished},
      {"only_small_private_regular_files_are_ours",
       only_small_private_regular_files_are_ours},
  };

  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
