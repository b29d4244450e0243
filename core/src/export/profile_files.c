#include "profile_files.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../util/counters.h"
#include "directory.h"

/* Leaves room in NAME_MAX (255) for pid, time, suffix and ".tmp". */
#define FILES_APP_BYTES 160
#define FILES_SUFFIX    ".pb.gz"

/* Past the cap a little more is removed, so that the directory is not read for
 * every file that is written. */
#define FILES_SLACK_DIVISOR 32

/* A temporary file this old has no writer any more. */
#define FILES_TEMPORARY_MAX_AGE_S 3600

typedef struct files_entry {
  uint64_t time_ns;
  uint64_t pid;
  uint64_t bytes;
} files_entry;

struct sp_profile_files {
  const sp_mem *mem;
  const sp_clock *clock;
  sp_log *log;
  char *directory;
  uint64_t max_bytes;
  uint64_t max_age_ns;
  char app[FILES_APP_BYTES + 1];
  /* As of the last look, plus what was written since. */
  bool looked;
  uint64_t bytes;
  uint64_t oldest_ns; /* Unix time; UINT64_MAX: there is no file */
  uint64_t removed;
};

/* `_` for what is unsafe in a file name, and for a dot that would hide it. */
static void files_app_clean(char *out, const char *name) {
  size_t i;

  for (i = 0; name[i] && i < FILES_APP_BYTES; i++) {
    char c = name[i];
    bool safe = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
                (c >= '0' && c <= '9') || c == '-' || c == '_' ||
                (c == '.' && i > 0);

    out[i] = safe ? c : '_';
  }
  out[i] = '\0';
}

static void files_name(const sp_profile_files *files, uint64_t pid,
                       uint64_t time_ns, char *out, size_t capacity) {
  snprintf(out, capacity, "%s-%llu-%llu" FILES_SUFFIX, files->app,
           (unsigned long long)pid, (unsigned long long)time_ns);
}

/* Is it ours? Then `suffix` ends it, and pid and time are filled in. */
static bool files_parse(const sp_profile_files *files, const char *name,
                        const char *suffix, files_entry *out) {
  size_t app_size = strlen(files->app);

  if (strncmp(name, files->app, app_size) != 0 || name[app_size] != '-')
    return false;
  name += app_size + 1;
  if (!sp_directory_number(&name, &out->pid) || *name++ != '-' ||
      !sp_directory_number(&name, &out->time_ns))
    return false;
  return strcmp(name, suffix) == 0;
}

spanprof_status sp_profile_files_new(sp_profile_files **out, const sp_mem *mem,
                                     const sp_settings *settings,
                                     const sp_clock *clock, sp_log *log) {
  sp_profile_files *files = sp_mem_zero(mem, sizeof *files);
  spanprof_status st;

  *out = NULL;
  if (!files)
    return SPANPROF_ERR_NOMEM;
  files->mem = mem;
  files->clock = clock;
  files->log = log;
  files->max_bytes = settings->output_max_bytes;
  files->max_age_ns =
      sp_min_u64(settings->output_max_age_s, UINT64_MAX / SP_NS_PER_S) *
      SP_NS_PER_S;
  files_app_clean(files->app, settings->application_name);
  st = sp_directory_prepare(&files->directory, mem, "output_directory",
                            settings->output_directory);
  if (st) {
    sp_profile_files_free(files);
    return st;
  }
  *out = files;
  return SPANPROF_OK;
}

void sp_profile_files_free(sp_profile_files *files) {
  if (!files)
    return;
  sp_mem_free(files->mem, files->directory);
  sp_mem_free(files->mem, files);
}

static int files_compare(const void *a, const void *b) {
  const files_entry *x = a, *y = b;

  return (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

/* A temporary file whose writer died. */
static void files_drop_leftover(const sp_profile_files *files, const char *name,
                                const char *path, const struct stat *info,
                                uint64_t now_ns) {
  files_entry entry;

  if (name[0] == '.' &&
      files_parse(files, name + 1, FILES_SUFFIX ".tmp", &entry) &&
      (uint64_t)info->st_mtime + FILES_TEMPORARY_MAX_AGE_S <
          now_ns / SP_NS_PER_S)
    unlink(path);
}

/* Read the directory: our files, oldest first. *list is to be freed.
 * SPANPROF_ERR_NOMEM, SPANPROF_ERR_IO: too little is known to remove any. */
static spanprof_status files_list(const sp_profile_files *files,
                                  uint64_t now_ns, files_entry **list,
                                  size_t *count) {
  spanprof_status st = SPANPROF_OK;
  struct dirent *found;
  size_t capacity = 0;
  DIR *directory = opendir(files->directory);

  *list = NULL;
  *count = 0;
  if (!directory)
    return SPANPROF_ERR_IO;
  while (!st && (found = readdir(directory)) != NULL) {
    char path[PATH_MAX];
    struct stat info;
    files_entry entry;

    if (!sp_directory_path(path, sizeof path, files->directory,
                           found->d_name) ||
        lstat(path, &info) != 0 || !S_ISREG(info.st_mode))
      continue;
    files_drop_leftover(files, found->d_name, path, &info, now_ns);
    if (!files_parse(files, found->d_name, FILES_SUFFIX, &entry))
      continue;
    entry.bytes = (uint64_t)info.st_size;
    st = sp_mem_reserve(files->mem, (void **)list, &capacity, *count + 1,
                        sizeof entry);
    if (!st)
      (*list)[(*count)++] = entry;
  }
  closedir(directory);
  if (*count)
    qsort(*list, *count, sizeof **list, files_compare);
  return st;
}

/* Remove one by one from the oldest on, until both caps hold. */
static void files_remove_oldest(sp_profile_files *files,
                                const files_entry *list, size_t count,
                                const sp_encoded *newest, uint64_t now_ns) {
  uint64_t target = files->max_bytes - files->max_bytes / FILES_SLACK_DIVISOR;
  bool over = files->bytes > files->max_bytes;
  size_t i;

  for (i = 0; i < count; i++) {
    char path[PATH_MAX], name[NAME_MAX + 1];
    bool old = list[i].time_ns < now_ns &&
               now_ns - list[i].time_ns > files->max_age_ns;

    if (list[i].time_ns == newest->time_ns ||
        (!old && !(over && files->bytes > target)))
      break;
    files_name(files, list[i].pid, list[i].time_ns, name, sizeof name);
    if (!sp_directory_path(path, sizeof path, files->directory, name))
      continue;
    if (unlink(path) != 0 && errno != ENOENT) {
      sp_log_warn(files->log, SP_LOG_OUTPUT, "%s cannot be removed: %s", path,
                  strerror(errno));
      continue;
    }
    files->bytes -= list[i].bytes;
    files->removed++;
    sp_count(&sp_counts.profiles_removed, 1);
  }
  files->oldest_ns = i < count ? list[i].time_ns : UINT64_MAX;
}

/* Remove what is past the caps; `newest` was just written. Reads the directory
 * only when a cap may be passed. */
static void files_enforce_caps(sp_profile_files *files,
                               const sp_encoded *newest) {
  uint64_t now_ns = sp_clock_unix_ns(files->clock), before = files->removed;
  files_entry *list;
  size_t count, i;
  spanprof_status st;

  if (files->looked && files->bytes <= files->max_bytes &&
      (files->oldest_ns >= now_ns ||
       now_ns - files->oldest_ns <= files->max_age_ns))
    return;
  st = files_list(files, now_ns, &list, &count);
  if (st == SPANPROF_OK) {
    files->looked = true;
    files->bytes = 0;
    for (i = 0; i < count; i++)
      files->bytes += list[i].bytes;
    files_remove_oldest(files, list, count, newest, now_ns);
  } else {
    sp_log_warn(files->log, SP_LOG_OUTPUT,
                "the caps of %s were not checked: %s", files->directory,
                spanprof_status_text(st));
  }
  sp_mem_free(files->mem, list);
  if (files->removed > before)
    sp_log_line(files->log, SPANPROF_LOG_INFO,
                "removed %llu old profiles from %s, as its caps ask",
                (unsigned long long)(files->removed - before),
                files->directory);
}

spanprof_status sp_profile_files_put(sp_profile_files *files,
                                     const sp_encoded *part) {
  sp_piece piece = {part->bytes, part->size};
  char name[NAME_MAX + 1];
  spanprof_status st;

  files_name(files, (uint64_t)getpid(), part->time_ns, name, sizeof name);
  st = sp_directory_put(files->directory, name, &piece, 1);
  if (st)
    return st;
  files->bytes += part->size;
  files->oldest_ns = sp_min_u64(files->oldest_ns, part->time_ns);
  files_enforce_caps(files, part);
  return SPANPROF_OK;
}

uint64_t sp_profile_files_removed(const sp_profile_files *files) {
  return files->removed;
}
