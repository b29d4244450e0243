#include "file_list.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const struct {
  const char *ending;
  file_kind kind;
} file_endings[] = {
    {".h", FILE_KIND_HEADER},      {".hpp", FILE_KIND_HEADER},
    {".hh", FILE_KIND_HEADER},     {".inc", FILE_KIND_HEADER},
    {".c", FILE_KIND_SOURCE},      {".cc", FILE_KIND_SOURCE},
    {".py", FILE_KIND_SOURCE},     {".pl", FILE_KIND_SOURCE},
    {".sh", FILE_KIND_SOURCE},     {".txt", FILE_KIND_TEXT},
    {".md", FILE_KIND_TEXT},       {"copyright", FILE_KIND_TEXT},
    {"changelog", FILE_KIND_TEXT}, {"README", FILE_KIND_TEXT},
    {".html", FILE_KIND_MARKUP},   {".xml", FILE_KIND_MARKUP},
    {".css", FILE_KIND_MARKUP},    {".json", FILE_KIND_MARKUP},
    {".gz", FILE_KIND_COMPRESSED}, {".png", FILE_KIND_COMPRESSED},
    {".xz", FILE_KIND_COMPRESSED}, {".pdf", FILE_KIND_COMPRESSED},
};

static file_kind file_kind_of(const char *path) {
  size_t i, length = strlen(path);

  for (i = 0; i < sizeof file_endings / sizeof file_endings[0]; i++) {
    size_t ending = strlen(file_endings[i].ending);

    if (length >= ending &&
        strcmp(path + length - ending, file_endings[i].ending) == 0)
      return file_endings[i].kind;
  }
  return FILE_KIND_OTHER;
}

/* Add a file. Takes ownership of `path`, even if it fails. */
static int file_list_add(file_list *list, char *path) {
  if (list->count == list->capacity) {
    size_t capacity = list->capacity ? 2 * list->capacity : 1024;
    file_entry *entries =
        realloc(list->entries, capacity * sizeof *list->entries);

    if (!entries) {
      free(path);
      return -1;
    }
    list->entries = entries;
    list->capacity = capacity;
  }
  list->entries[list->count].path = path;
  list->entries[list->count].kind = file_kind_of(path);
  list->count++;
  return 0;
}

static char *file_path_join(const char *directory, const char *name) {
  size_t size = strlen(directory) + strlen(name) + 2;
  char *path = malloc(size);

  if (path)
    snprintf(path, size, "%s/%s", directory, name);
  return path;
}

/* Append the files of one directory to `files` and its directories to
 * `directories`. */
static int file_list_directory(file_list *files, file_list *directories,
                               const char *path) {
  DIR *dir = opendir(path);
  const struct dirent *entry;
  int result = 0;

  if (!dir)
    return errno == ENOMEM || errno == EMFILE ? -1 : 0;
  while (result == 0 && (entry = readdir(dir)) != NULL) {
    struct stat about;
    char *child;

    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
      continue;
    child = file_path_join(path, entry->d_name);
    if (!child)
      result = -1;
    else if (lstat(child, &about) != 0)
      free(child);
    else if (S_ISREG(about.st_mode))
      result = file_list_add(files, child);
    else if (S_ISDIR(about.st_mode))
      result = file_list_add(directories, child);
    else
      free(child);
  }
  closedir(dir);
  return result;
}

const char *file_kind_name(file_kind kind) {
  static const char *const names[FILE_KIND_COUNT] = {
      "index header", "index source",     "index text",
      "index markup", "index compressed", "index other"};

  return names[kind];
}

int file_list_read(file_list *list, char *const *roots, size_t count) {
  file_list directories = {0};
  int result = 0;

  memset(list, 0, sizeof *list);
  for (size_t i = 0; result == 0 && i < count; i++) {
    char *root = strdup(roots[i]);

    result = root ? file_list_add(&directories, root) : -1;
  }
  for (size_t i = 0; result == 0 && i < directories.count; i++)
    result =
        file_list_directory(list, &directories, directories.entries[i].path);
  file_list_free(&directories);
  if (result != 0)
    file_list_free(list);
  return result;
}

void file_list_free(file_list *list) {
  for (size_t i = 0; i < list->count; i++)
    free(list->entries[i].path);
  free(list->entries);
  memset(list, 0, sizeof *list);
}
