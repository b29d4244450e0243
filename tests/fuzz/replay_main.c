/* Runs a fuzz target on the files of a corpus, without a fuzzer, so that every
 * build tests the known inputs. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Maximum size of a file, larger than any corpus file should be. */
#define REPLAY_FILE_BYTES (1u << 20)

/* Run the target on a block of exactly the input's size, so that a sanitizer
 * detects a read beyond its end. */
static int replay_bytes(const uint8_t *bytes, size_t size) {
  uint8_t *exact = malloc(size ? size : 1);

  if (!exact)
    return -1;
  if (size)
    memcpy(exact, bytes, size);
  LLVMFuzzerTestOneInput(exact, size);
  free(exact);
  return 0;
}

static int replay_file(const char *path, uint8_t *buffer) {
  FILE *file = fopen(path, "rb");
  size_t size;
  int failed;

  if (!file)
    return -1;
  size = fread(buffer, 1, REPLAY_FILE_BYTES, file);
  failed = ferror(file) || fgetc(file) != EOF;
  fclose(file);
  if (failed || replay_bytes(buffer, size) != 0)
    return -1;
  /* Also replay the first half, because truncation is the most common
   * damage. */
  return replay_bytes(buffer, size / 2);
}

/* Replay every file of the directory. Returns the number of files, or -1. */
static long replay_directory(const char *directory, uint8_t *buffer) {
  DIR *dir = opendir(directory);
  const struct dirent *entry;
  long count = 0;

  if (!dir)
    return -1;
  while (count >= 0 && (entry = readdir(dir)) != NULL) {
    char path[4096];
    int length;

    if (entry->d_name[0] == '.')
      continue;
    length = snprintf(path, sizeof path, "%s/%s", directory, entry->d_name);
    if (length < 0 || (size_t)length >= sizeof path ||
        replay_file(path, buffer) != 0) {
      fprintf(stderr, "cannot read %s\n", path);
      count = -1;
    } else
      count++;
  }
  closedir(dir);
  return count;
}

int main(int argc, char **argv) {
  uint8_t *buffer = malloc(REPLAY_FILE_BYTES);
  long count = -1;

  if (argc == 2 && buffer && replay_bytes(NULL, 0) == 0)
    count = replay_directory(argv[1], buffer);
  free(buffer);
  if (count <= 0) {
    fprintf(stderr, "usage: %s CORPUS, a directory with readable files\n",
            argv[0]);
    return 1;
  }
  printf("%ld inputs replayed\n", count);
  return 0;
}
