#include "check.h"
#include "command/shared/profile_list.h"
#include "failing_mem.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* The temporary directory of this test. */
static char scratch[64];
static const char *const directories[] = {"b", "b/deep", "empty", ".hidden"};
static const char *const files[] = {
    "z.pb.gz",      "a.pprof",     "notes.txt", "b/c.pb", "b/deep/d.prof",
    ".hidden/e.pb", ".part.pb.gz", "pb",        ".pb.gz", "x.pb.gz.tmp"};

static const char *scratch_path(const char *name) {
  static char path[160];

  snprintf(path, sizeof path, "%s/%s", scratch, name);
  return path;
}

static void scratch_make(void) {
  size_t i;
  int file;

  snprintf(scratch, sizeof scratch, "/tmp/spanprof-list-XXXXXX");
  CHECK(mkdtemp(scratch));
  for (i = 0; i < SP_COUNT_OF(directories); i++)
    CHECK_EQUAL(mkdir(scratch_path(directories[i]), 0700), 0);
  for (i = 0; i < SP_COUNT_OF(files); i++) {
    file = open(scratch_path(files[i]), O_WRONLY | O_CREAT, 0600);
    CHECK(file >= 0 && write(file, files[i], 3) >= 2);
    close(file);
  }
  CHECK_EQUAL(symlink(scratch, scratch_path("b/loop.pb")), 0);
  /* Add pipes, whose open() would wait for a writer. */
  CHECK_EQUAL(mkfifo(scratch_path("pipe.pb"), 0600), 0);
  CHECK_EQUAL(symlink("pipe.pb", scratch_path("b/pipe.pb")), 0);
}

static void scratch_remove(void) {
  size_t i;

  unlink(scratch_path("b/loop.pb"));
  unlink(scratch_path("pipe.pb"));
  unlink(scratch_path("b/pipe.pb"));
  for (i = 0; i < SP_COUNT_OF(files); i++)
    unlink(scratch_path(files[i]));
  for (i = SP_COUNT_OF(directories); i > 0; i--)
    rmdir(scratch_path(directories[i - 1]));
  rmdir(scratch_path("b"));
  rmdir(scratch);
}

static void directories_are_searched_and_sorted(void) {
  static const char *const expected[] = {"a.pprof", "b/c.pb", "b/deep/d.prof",
                                         "z.pb.gz"};
  sp_profile_list list;
  size_t i;

  sp_profile_list_init(&list, &sp_mem_default);
  CHECK_EQUAL(sp_profile_list_add(&list, scratch), SPANPROF_OK);
  CHECK_EQUAL(list.count, SP_COUNT_OF(expected));
  for (i = 0; i < list.count; i++)
    CHECK_TEXT(list.paths[i], scratch_path(expected[i]));
  sp_profile_list_dispose(&list);
}

static void files_may_have_any_name(void) {
  sp_profile_list list;

  sp_profile_list_init(&list, &sp_mem_default);
  CHECK_EQUAL(sp_profile_list_add(&list, scratch_path("notes.txt")),
              SPANPROF_OK);
  CHECK_EQUAL(sp_profile_list_add(&list, "-"), SPANPROF_OK);
  CHECK_EQUAL(list.count, 2);
  sp_profile_list_dispose(&list);
}

static void missing_files_are_named(void) {
  sp_profile_list list;

  sp_profile_list_init(&list, &sp_mem_default);
  CHECK_EQUAL(sp_profile_list_add(&list, "/nowhere/x.pb"), SPANPROF_ERR_IO);
  CHECK_TEXT(spanprof_last_error(), "/nowhere/x.pb: No such file or directory");
  CHECK_EQUAL(sp_profile_list_add(&list, scratch_path("empty")),
              SPANPROF_ERR_IO);
  CHECK(strstr(spanprof_last_error(), "/empty: no profiles in this directory"));
  CHECK_EQUAL(list.count, 0);
  sp_profile_list_dispose(&list);
}

static void files_are_read_completely(void) {
  char *bytes;
  size_t size;

  CHECK_EQUAL(sp_profile_file_read(scratch_path("z.pb.gz"), &sp_mem_default,
                                   &bytes, &size),
              SPANPROF_OK);
  CHECK_EQUAL(size, 3);
  CHECK(memcmp(bytes, "z.p", 3) == 0);
  sp_mem_free(&sp_mem_default, bytes);
  CHECK_EQUAL(sp_profile_file_read(scratch, &sp_mem_default, &bytes, &size),
              SPANPROF_ERR_IO);
  CHECK_TEXT(spanprof_last_error(), "Is a directory");
  CHECK(!bytes);
  CHECK_EQUAL(sp_profile_file_read("/dev/zero", &sp_mem_default, &bytes, &size),
              SPANPROF_ERR_LIMIT);
  CHECK_TEXT(spanprof_last_error(), "is larger than 256 MiB");
}

static void a_pipe_without_a_writer_is_empty(void) {
  char *bytes;
  size_t size;

  alarm(60);
  CHECK_EQUAL(sp_profile_file_read(scratch_path("pipe.pb"), &sp_mem_default,
                                   &bytes, &size),
              SPANPROF_OK);
  alarm(0);
  CHECK_EQUAL(size, 0);
  sp_mem_free(&sp_mem_default, bytes);
}

static void list_with(const sp_mem *mem) {
  sp_profile_list list;
  spanprof_status st;
  char *bytes;
  size_t size;

  sp_profile_list_init(&list, mem);
  st = sp_profile_list_add(&list, scratch);
  if (st == SPANPROF_OK)
    st = sp_profile_file_read(list.paths[0], mem, &bytes, &size);
  if (st == SPANPROF_OK)
    sp_mem_free(mem, bytes);
  CHECK(st == SPANPROF_OK || st == SPANPROF_ERR_NOMEM);
  sp_profile_list_dispose(&list);
}

static void lists_survive_every_failed_allocation(void) {
  failing_mem_sweep(list_with);
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"directories are searched, and sorted",
       directories_are_searched_and_sorted},
      {"files may have any name", files_may_have_any_name},
      {"missing files are named", missing_files_are_named},
      {"files are read completely", files_are_read_completely},
      {"a pipe without a writer is empty", a_pipe_without_a_writer_is_empty},
      {"every failed allocation is survived",
       lists_survive_every_failed_allocation},
  };
  int failed;

  scratch_make();
  failed = check_main(argc, argv, tests, SP_COUNT_OF(tests));
  scratch_remove();
  return failed;
}
