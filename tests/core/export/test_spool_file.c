#include "export/spool/spool_file.h"

#include <fcntl.h>

#include "export_fixture.h"
#include "sample_pprof.h"

static sp_series file_series;

static void write_one(const char *directory, size_t filler) {
  sp_encoded part = sample_pprof(&sp_mem_default, 77, 5, 50, filler);
  int fd = open(directory, O_RDONLY | O_DIRECTORY);

  CHECK(fd >= 0);
  CHECK(!sp_spool_file_write(fd, directory, "77.profile", &part, &file_series));
  close(fd);
  sp_encoded_dispose(&part);
}

static spanprof_status read_one(const char *directory, const char *name,
                                sp_spool_file *out) {
  int fd = open(directory, O_RDONLY | O_DIRECTORY);
  spanprof_status st = sp_spool_file_read(out, &sp_mem_default, fd, name);

  close(fd);
  return st;
}

static void a_written_file_is_read(void) {
  sp_encoded part = sample_pprof(&sp_mem_default, 77, 5, 50, 100);
  const char *name = NULL, *value = NULL;
  char directory[64];
  sp_spool_file file;

  write_one(directory_new(directory), 100);
  CHECK(!read_one(directory, "77.profile", &file));
  CHECK_EQUAL(file.part.time_ns, 77);
  CHECK_EQUAL(file.part.size, part.size);
  CHECK(memcmp(file.part.bytes, part.bytes, part.size) == 0);
  CHECK(sp_series_next(&file.series, &name, &value));
  CHECK_TEXT(name, "__name__");
  sp_spool_file_dispose(&file);
  sp_encoded_dispose(&part);
  directory_remove(directory);
}

static void every_truncation_of_a_file_is_detected(void) {
  char directory[64], path[128], whole[4096];
  sp_spool_file file;
  size_t size, i;
  FILE *stored;

  write_one(directory_new(directory), 100);
  snprintf(path, sizeof path, "%s/77.profile", directory);
  stored = fopen(path, "r");
  CHECK(stored != NULL);
  size = fread(whole, 1, sizeof whole, stored);
  fclose(stored);
  for (i = 0; i <= size; i++) {
    char *content = sp_mem_new(&sp_mem_default, i);

    memcpy(content, whole, i);
    CHECK_EQUAL(sp_spool_file_parse(&file, &sp_mem_default, content, i),
                i == size ? SPANPROF_OK : SPANPROF_ERR_FORMAT);
  }
  CHECK(file.part.size > 0);
  sp_spool_file_dispose(&file);
  directory_remove(directory);
}

static void other_files_are_not_read(void) {
  char directory[64], path[128];
  sp_spool_file file;

  write_one(directory_new(directory), 100);
  snprintf(path, sizeof path, "%s/78.profile", directory);
  CHECK_EQUAL(read_one(directory, "78.profile", &file), SPANPROF_ERR_FORMAT);
  CHECK(symlink("77.profile", path) == 0);
  CHECK_EQUAL(read_one(directory, "78.profile", &file), SPANPROF_ERR_FORMAT);
  CHECK(unlink(path) == 0 && mkfifo(path, 0600) == 0);
  CHECK_EQUAL(read_one(directory, "78.profile", &file), SPANPROF_ERR_FORMAT);
  CHECK(unlink(path) == 0 && mkdir(path, 0700) == 0);
  CHECK_EQUAL(read_one(directory, "78.profile", &file), SPANPROF_ERR_FORMAT);
  snprintf(path, sizeof path, "%s/77.profile", directory);
  CHECK(chmod(path, 0660) == 0);
  CHECK_EQUAL(read_one(directory, "77.profile", &file), SPANPROF_ERR_FORMAT);
  CHECK(chmod(path, 0600) == 0 && truncate(path, 9 << 20) == 0);
  CHECK_EQUAL(read_one(directory, "77.profile", &file), SPANPROF_ERR_FORMAT);
  CHECK(file.content == NULL);
  directory_remove(directory);
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"a_written_file_is_read", a_written_file_is_read},
      {"every_truncation_of_a_file_is_detected",
       every_truncation_of_a_file_is_detected},
      {"other_files_are_not_read", other_files_are_not_read},
  };
  sp_settings settings = usual_settings();
  int failed;

  CHECK(!sp_series_init(&file_series, &sp_mem_default, &settings, NULL));
  failed = check_main(argc, argv, tests, SP_COUNT_OF(tests));
  sp_series_dispose(&file_series);
  return failed;
}
