#include "profile_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "export/upload/series_comments.h"
#include "util/system/counters.h"
#include "util/system/directory.h"
#include "util/system/status.h"
#include "util/text/ascii.h"
#include "util/text/number.h"

/* Maximum length of the application's name in a file name. With this length,
 * the name, the hash, the pid, the time, the suffix and ".tmp" fit into
 * NAME_MAX (255). */
#define FILES_APP_BYTES  160
#define FILES_HASH_BYTES 9
#define FILES_SUFFIX     ".pb.gz"

/* If the files have more than max_bytes, files are removed until max_bytes -
 * max_bytes / FILES_SLACK_DIVISOR is left, so that the directory is not read
 * for every written file. The directory is read again after max_bytes /
 * FILES_SLACK_DIVISOR written bytes, or after FILES_RESCAN_NS, because other
 * processes write files, too. */
#define FILES_SLACK_DIVISOR 32
#define FILES_RESCAN_NS     (60 * SP_NS_PER_S)

/* A temporary file of this age was left behind by a process that has died. */
#define FILES_TEMPORARY_MAX_AGE_S 3600

/* If the clock is changed by more than FILES_JUMP_NS, the age of files is not
 * checked for a day, because the change may be a mistake that is corrected
 * within that day. */
#define FILES_JUMP_NS     (INT64_C(600) * 1000000000)
#define FILES_DISTRUST_NS (24 * 3600 * SP_NS_PER_S)

typedef struct files_entry {
  uint64_t time_ns;
  uint64_t pid;
  uint64_t bytes;
  bool ahead; /* its time is in the future: the clock was set back */
} files_entry;

struct sp_profile_files {
  const sp_mem *mem;
  const sp_clock *clock;
  sp_log *log;
  char *directory;
  uint64_t max_bytes;
  uint64_t max_age_ns;
  char app[FILES_APP_BYTES + FILES_HASH_BYTES + 1];
  /* The state of the directory when it was read last, plus the files written
   * since then. */
  bool scanned;
  uint64_t rescan_ns; /* when to read the directory again, monotonic */
  uint64_t bytes;
  uint64_t written;   /* bytes written since the last reading */
  uint64_t oldest_ns; /* Unix time of the oldest file; UINT64_MAX: no files */
  uint64_t removed;
  /* offset_ns is Unix time minus monotonic time when a file was written last.
   * Until the monotonic time trust_ns, ages are not checked. */
  int64_t offset_ns;
  uint64_t trust_ns;
};

/* Copy the application's name. `_` replaces characters that are unsafe in a
 * file name, and a leading dot. If the name changes, a hash of the original
 * name is appended, so that two applications never share files. */
static void files_app_clean(char *out, const char *name) {
  bool changed = false;
  size_t i;

  for (i = 0; name[i] && i < FILES_APP_BYTES; i++) {
    char c = name[i];
    bool safe = sp_ascii_word(c) || c == '-' || c == '_' || (c == '.' && i > 0);

    out[i] = safe ? c : '_';
    changed = changed || !safe;
  }
  out[i] = '\0';
  if (changed || name[i])
    snprintf(out + i, FILES_HASH_BYTES + 1, ".%08x",
             (unsigned)crc32_z(0, (const Bytef *)name, strlen(name)));
}

static void files_name(const sp_profile_files *files, uint64_t pid,
                       uint64_t time_ns, char *out, size_t capacity) {
  snprintf(out, capacity, "%s-%llu-%llu" FILES_SUFFIX, files->app,
           (unsigned long long)pid, (unsigned long long)time_ns);
}

/* Is `name` the name of a file of this application, with this suffix? If so,
 * *out gets the pid and the time in the name. */
static bool files_parse(const sp_profile_files *files, const char *name,
                        const char *suffix, files_entry *out) {
  size_t app_size = strlen(files->app);

  if (strncmp(name, files->app, app_size) != 0 || name[app_size] != '-')
    return false;
  name += app_size + 1;
  if (!sp_number_read_canonical(&name, &out->pid) || *name++ != '-' ||
      !sp_number_read_canonical(&name, &out->time_ns))
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

void sp_profile_files_name(sp_profile_files *files, const char *name) {
  files_app_clean(files->app, name);
  files->scanned = false; /* files of the old name no longer count */
}

void sp_profile_files_free(sp_profile_files *files) {
  if (!files)
    return;
  sp_mem_free(files->mem, files->directory);
  sp_mem_free(files->mem, files);
}

static int files_compare(const void *a, const void *b) {
  const files_entry *x = a, *y = b;

  if (x->ahead != y->ahead)
    return y->ahead - x->ahead;
  return (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

/* Remove a temporary file whose writer has died. */
static void files_drop_leftover(const sp_profile_files *files, int directory,
                                const char *name, const struct stat *info,
                                uint64_t now_ns) {
  files_entry entry;

  if (name[0] == '.' &&
      files_parse(files, name + 1, FILES_SUFFIX ".tmp", &entry) &&
      (uint64_t)info->st_mtime + FILES_TEMPORARY_MAX_AGE_S <
          now_ns / SP_NS_PER_S)
    unlinkat(directory, name, 0);
}

/* List this application's files in the directory: first those with a time in
 * the future, then the others, oldest first. The caller frees *list. If the
 * function returns SPANPROF_ERR_NOMEM or SPANPROF_ERR_IO, the list is
 * incomplete, and the caller must not remove files. */
static spanprof_status files_list(const sp_profile_files *files, int fd,
                                  uint64_t now_ns, files_entry **list,
                                  size_t *count) {
  spanprof_status st = SPANPROF_OK;
  uint64_t ahead_ns = sp_clock_unix_ns(files->clock) + FILES_JUMP_NS;
  int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
  DIR *directory = copy < 0 ? NULL : fdopendir(copy);
  struct dirent *found;
  size_t capacity = 0;

  *list = NULL;
  *count = 0;
  if (!directory) {
    if (copy >= 0)
      close(copy);
    return SPANPROF_ERR_IO;
  }
  while (!st && (found = readdir(directory)) != NULL) {
    struct stat info;
    files_entry entry;

    if (fstatat(fd, found->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0 ||
        !S_ISREG(info.st_mode))
      continue;
    files_drop_leftover(files, fd, found->d_name, &info, now_ns);
    if (!files_parse(files, found->d_name, FILES_SUFFIX, &entry))
      continue;
    entry.bytes = (uint64_t)info.st_size;
    entry.ahead = entry.time_ns > ahead_ns;
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

/* Return the Unix time by which ages are checked. Returns 0 if the clock was
 * changed recently, because a clock that was set forward by mistake would make
 * all files too old. */
static uint64_t files_age_now(sp_profile_files *files) {
  uint64_t monotonic_ns = sp_clock_monotonic_ns(files->clock);
  uint64_t unix_ns = sp_clock_unix_ns(files->clock);
  int64_t offset_ns = (int64_t)(unix_ns - monotonic_ns);

  if (files->scanned && llabs(offset_ns - files->offset_ns) > FILES_JUMP_NS)
    files->trust_ns = monotonic_ns + FILES_DISTRUST_NS;
  files->offset_ns = offset_ns;
  return monotonic_ns < files->trust_ns ? 0 : unix_ns;
}

/* Remove files, oldest first, until the limits of size and age are met. If the
 * size is above its limit, files with a time in the future are removed first,
 * because otherwise each new profile would be the oldest file. */
static void files_remove_oldest(sp_profile_files *files, int directory,
                                const files_entry *list, size_t count,
                                const sp_encoded *newest, uint64_t now_ns) {
  uint64_t target = files->max_bytes - files->max_bytes / FILES_SLACK_DIVISOR;
  bool over = files->bytes > files->max_bytes;
  size_t i;

  for (i = 0; i < count; i++) {
    char name[NAME_MAX + 1];
    bool old = list[i].time_ns < now_ns &&
               now_ns - list[i].time_ns > files->max_age_ns;
    bool goes = list[i].time_ns != newest->time_ns &&
                (old || (over && files->bytes > target));

    if (!goes && list[i].ahead)
      continue;
    if (!goes)
      break;
    files_name(files, list[i].pid, list[i].time_ns, name, sizeof name);
    if (unlinkat(directory, name, 0) != 0 && errno != ENOENT) {
      sp_log_warn(files->log, SP_LOG_OUTPUT, "%s/%s cannot be removed: %s",
                  files->directory, name, strerror(errno));
      continue;
    }
    files->bytes -= list[i].bytes;
    files->removed++;
    sp_count(&sp_counts.profiles_removed, 1);
  }
  files->oldest_ns = i < count ? list[i].time_ns : UINT64_MAX;
}

/* Remove files until the limits are met, but never the file `newest`. Reads the
 * directory only if a limit may be exceeded. */
static void files_enforce_caps(sp_profile_files *files, int directory,
                               const sp_encoded *newest) {
  uint64_t now_ns = files_age_now(files), before = files->removed;
  files_entry *list;
  size_t count, i;
  spanprof_status st;

  if (files->scanned && files->bytes <= files->max_bytes &&
      files->written <= files->max_bytes / FILES_SLACK_DIVISOR &&
      sp_clock_monotonic_ns(files->clock) < files->rescan_ns &&
      (files->oldest_ns >= now_ns ||
       now_ns - files->oldest_ns <= files->max_age_ns))
    return;
  st = files_list(files, directory, now_ns, &list, &count);
  if (!st) {
    files->scanned = true;
    files->rescan_ns = sp_clock_monotonic_ns(files->clock) + FILES_RESCAN_NS;
    files->bytes = 0;
    files->written = 0;
    for (i = 0; i < count; i++)
      files->bytes += list[i].bytes;
    files_remove_oldest(files, directory, list, count, newest, now_ns);
  } else {
    sp_log_warn(files->log, SP_LOG_OUTPUT,
                "cannot list the profiles in %s to apply output_max_bytes and "
                "output_max_age_s: %s",
                files->directory, spanprof_status_text(st));
  }
  sp_mem_free(files->mem, list);
  if (files->removed > before)
    sp_log_line(files->log, SPANPROF_LOG_INFO,
                "removed %llu old profiles from %s because of output_max_bytes "
                "and output_max_age_s",
                (unsigned long long)(files->removed - before),
                files->directory);
}

/* Write the pieces to the profile's file, and remove files beyond the limits.
 */
static spanprof_status files_write(sp_profile_files *files,
                                   const sp_encoded *part,
                                   const sp_piece *pieces, size_t count,
                                   size_t bytes) {
  char name[NAME_MAX + 1];
  spanprof_status st;
  int directory;

  files_name(files, (uint64_t)getpid(), part->time_ns, name, sizeof name);
  st = sp_directory_open(&directory, files->directory, NULL);
  if (st)
    return st;
  st = sp_directory_put(directory, files->directory, name, pieces, count);
  if (!st) {
    files->bytes += bytes;
    files->written += bytes;
    files->oldest_ns = sp_min_u64(files->oldest_ns, part->time_ns);
    files_enforce_caps(files, directory, part);
  }
  close(directory);
  return st;
}

spanprof_status sp_profile_files_put(sp_profile_files *files,
                                     const sp_encoded *part,
                                     const sp_series *series, size_t *bytes) {
  spanprof_status st = SPANPROF_OK;
  sp_buffer comments;

  sp_buffer_init(&comments, files->mem);
  if (part->text_count)
    sp_series_comments_write(series, part->text_count, &comments);
  if (comments.failed)
    st = sp_fail(SPANPROF_ERR_NOMEM, "out of memory");
  *bytes = part->size + comments.size;
  if (!st) {
    const sp_piece pieces[] = {{part->bytes, part->size},
                               {comments.data, comments.size}};

    st = files_write(files, part, pieces, SP_COUNT_OF(pieces), *bytes);
  }
  sp_buffer_dispose(&comments);
  return st;
}

uint64_t sp_profile_files_removed(const sp_profile_files *files) {
  return files->removed;
}
