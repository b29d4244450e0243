#include "profile_list.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/memory/buffer.h"
#include "util/system/status.h"

#define PROFILE_READ_BYTES 65536

static const char *const profile_endings[] = {".pb.gz", ".pb", ".pprof",
                                              ".prof"};

void sp_profile_list_init(sp_profile_list *list, const sp_mem *mem) {
  *list = (sp_profile_list){.mem = mem};
}

void sp_profile_list_dispose(sp_profile_list *list) {
  size_t i;

  for (i = 0; i < list->count; i++)
    sp_mem_free(list->mem, list->paths[i]);
  sp_mem_free(list->mem, list->paths);
  sp_mem_free(list->mem, list->files);
  sp_index_dispose(&list->file_index, list->mem);
  sp_profile_list_init(list, list->mem);
}

static spanprof_status profile_list_no_memory(void) {
  return sp_fail(SPANPROF_ERR_NOMEM, "out of memory");
}

/* Append the path `directory`/`name`, or `name` if `directory` is NULL. */
static spanprof_status profile_list_append(sp_profile_list *list,
                                           const char *directory,
                                           const char *name) {
  sp_buffer path;
  char *text;
  size_t size;

  sp_buffer_init(&path, list->mem);
  if (directory) {
    sp_buffer_text(&path, directory);
    if (path.size == 0 || path.data[path.size - 1] != '/')
      sp_buffer_text(&path, "/");
  }
  sp_buffer_text(&path, name);
  text = sp_buffer_detach(&path, &size);
  if (!text || sp_mem_reserve(list->mem, (void **)&list->paths, &list->capacity,
                              list->count + 1, sizeof *list->paths)) {
    sp_mem_free(list->mem, text);
    return profile_list_no_memory();
  }
  list->paths[list->count++] = text;
  return SPANPROF_OK;
}

/* Set *repeated to whether the list has the file already, possibly under
 * another name. If not, remember the file. */
static spanprof_status profile_list_note(sp_profile_list *list,
                                         const struct stat *about,
                                         bool *repeated) {
  const sp_profile_identity file = {about->st_dev, about->st_ino};
  const uint64_t hash =
      sp_hash_mix(sp_hash_mix(file.device, SP_HASH_SEED), file.inode);
  uint32_t at, i;

  for (i = sp_index_first(&list->file_index, hash, &at); i != SP_INDEX_NONE;
       i = sp_index_next(&list->file_index, hash, &at)) {
    *repeated = list->files[i].device == file.device &&
                list->files[i].inode == file.inode;
    if (*repeated)
      return SPANPROF_OK;
  }
  if (sp_mem_reserve(list->mem, (void **)&list->files, &list->file_capacity,
                     list->file_count + 1, sizeof file) ||
      sp_index_reserve(&list->file_index, list->mem))
    return profile_list_no_memory();
  sp_index_add(&list->file_index, hash, (uint32_t)list->file_count);
  list->files[list->file_count++] = file;
  return SPANPROF_OK;
}

/* Append a file unless the list has it already. `about` identifies the file by
 * its device and inode. */
static spanprof_status profile_list_add_once(sp_profile_list *list,
                                             const char *directory,
                                             const char *name,
                                             const struct stat *about) {
  bool repeated = false;
  spanprof_status st = SPANPROF_OK;

  if (S_ISREG(about->st_mode))
    st = profile_list_note(list, about, &repeated);
  if (st)
    return st;
  list->repeated += repeated;
  return repeated ? SPANPROF_OK : profile_list_append(list, directory, name);
}

static bool profile_name(const char *name) {
  size_t i, length = strlen(name);

  for (i = 0; i < SP_COUNT_OF(profile_endings); i++) {
    size_t ending = strlen(profile_endings[i]);

    if (length > ending &&
        strcmp(name + length - ending, profile_endings[i]) == 0)
      return true;
  }
  return false;
}

static int profile_path_order(const void *a, const void *b) {
  return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Add the profiles in one directory to `list`, and the directories in it to
 * `below`. */
static spanprof_status profile_list_scan(sp_profile_list *list,
                                         sp_profile_list *below,
                                         const char *path) {
  DIR *directory = opendir(path);
  const struct dirent *entry;
  spanprof_status st = SPANPROF_OK;

  if (!directory)
    return sp_fail_errno(SPANPROF_ERR_IO, errno, "%s", path);
  while (!st && (entry = readdir(directory)) != NULL) {
    struct stat about;
    bool linked;

    if (entry->d_name[0] == '.' || fstatat(dirfd(directory), entry->d_name,
                                           &about, AT_SYMLINK_NOFOLLOW) != 0)
      continue;
    linked = S_ISLNK(about.st_mode);
    if (linked && fstatat(dirfd(directory), entry->d_name, &about, 0) != 0)
      continue;
    if (linked && S_ISDIR(about.st_mode))
      continue;
    if (S_ISDIR(about.st_mode))
      st = profile_list_append(below, path, entry->d_name);
    else if (S_ISREG(about.st_mode) && profile_name(entry->d_name))
      st = profile_list_add_once(list, path, entry->d_name, &about);
  }
  closedir(directory);
  return st;
}

static spanprof_status profile_list_walk(sp_profile_list *list,
                                         const char *path) {
  const size_t first = list->count, repeated = list->repeated;
  spanprof_status st, unread = SPANPROF_OK;
  sp_profile_list below;
  size_t i;

  sp_profile_list_init(&below, list->mem);
  st = profile_list_scan(list, &below, path);
  for (i = 0; i < below.count && !st; i++) {
    st = profile_list_scan(list, &below, below.paths[i]);
    if (st == SPANPROF_ERR_IO) {
      unread = st;
      st = SPANPROF_OK;
    }
  }
  sp_profile_list_dispose(&below);
  if (st)
    return st;
  if (list->count > first)
    qsort(list->paths + first, list->count - first, sizeof *list->paths,
          profile_path_order);
  if (unread)
    return unread;
  if (list->count == first && list->repeated == repeated)
    return sp_fail(SPANPROF_ERR_IO,
                   "%s: no profiles in this directory (*.pb.gz, *.pb, *.pprof, "
                   "*.prof)",
                   path);
  return SPANPROF_OK;
}

spanprof_status sp_profile_list_add(sp_profile_list *list, const char *path) {
  struct stat about;

  if (strcmp(path, "-") == 0) {
    list->repeated += list->standard_input;
    if (list->standard_input)
      return SPANPROF_OK;
    list->standard_input = true;
    return profile_list_append(list, NULL, path);
  }
  if (stat(path, &about) != 0)
    return sp_fail_errno(SPANPROF_ERR_IO, errno, "%s", path);
  if (S_ISDIR(about.st_mode))
    return profile_list_walk(list, path);
  return profile_list_add_once(list, NULL, path, &about);
}

/* Open a file or a named pipe, such as one that a shell makes for "<(...)". A
 * pipe without a writer counts as empty, since O_NONBLOCK does not wait for a
 * writer. */
static int profile_file_open(const char *path) {
  int file = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  int flags = file < 0 ? -1 : fcntl(file, F_GETFL);

  if (flags >= 0)
    fcntl(file, F_SETFL, flags & ~O_NONBLOCK);
  return file;
}

static spanprof_status profile_file_read_all(int file, sp_buffer *bytes) {
  char block[PROFILE_READ_BYTES];
  ssize_t got;

  while ((got = read(file, block, sizeof block)) != 0) {
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return sp_fail(SPANPROF_ERR_IO, "%s", strerror(errno));
    if (bytes->size + (size_t)got > SP_PROFILE_FILE_MAX)
      return sp_fail(SPANPROF_ERR_LIMIT, "is larger than %zu MiB",
                     SP_PROFILE_FILE_MAX >> 20);
    sp_buffer_append(bytes, block, (size_t)got);
    if (sp_buffer_status(bytes))
      return profile_list_no_memory();
  }
  return SPANPROF_OK;
}

spanprof_status sp_profile_file_read(const char *path, const sp_mem *mem,
                                     char **out, size_t *size) {
  const bool standard = strcmp(path, "-") == 0;
  int file = standard ? STDIN_FILENO : profile_file_open(path);
  sp_buffer bytes;
  spanprof_status st;

  *out = NULL;
  *size = 0;
  if (file < 0)
    return sp_fail(SPANPROF_ERR_IO, "%s", strerror(errno));
  sp_buffer_init(&bytes, mem);
  st = profile_file_read_all(file, &bytes);
  if (!st) {
    *out = sp_buffer_detach(&bytes, size);
    if (!*out)
      st = profile_list_no_memory();
  }
  sp_buffer_dispose(&bytes);
  if (!standard)
    close(file);
  return st;
}
