/* Helpers of the export tests: settings, a log that is stored, and temporary
 * directories. */
#ifndef EXPORT_FIXTURE_H
#define EXPORT_FIXTURE_H

#include <dirent.h>
#include <ftw.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "test_clock.h"
#include "util/system/log.h"
#include "settings/settings.h"

/* The lines that one session has logged, each with a newline. While threads may
 * log, read them with logged_has(). */
static pthread_mutex_t logged_lock = PTHREAD_MUTEX_INITIALIZER;
static char logged[1 << 16];

static inline void logged_write(void *data, spanprof_log_level level,
                                const char *message) {
  size_t used;

  (void)data;
  (void)level;
  pthread_mutex_lock(&logged_lock);
  used = strlen(logged);
  snprintf(logged + used, sizeof logged - used, "%s\n", message);
  pthread_mutex_unlock(&logged_lock);
}

static inline bool logged_has(const char *text) {
  bool has;

  pthread_mutex_lock(&logged_lock);
  has = strstr(logged, text) != NULL;
  pthread_mutex_unlock(&logged_lock);
  return has;
}

static inline size_t logged_count(const char *text) {
  const char *p = logged;
  size_t count = 0;

  while ((p = strstr(p, text)) != NULL) {
    count++;
    p++;
  }
  return count;
}

static inline sp_settings usual_settings(void) {
  sp_settings settings = {.mem = &sp_mem_default,
                          .application_name = (char *)"checkout",
                          .sample_rate_hz = 100,
                          .queue_bytes = 8 << 20,
                          .upload_interval_ms = 10000,
                          .output_max_bytes = 1 << 30,
                          .output_max_age_s = 7 * 24 * 3600,
                          .spool_max_bytes = 64 << 20,
                          .spool_max_age_s = 2700};

  return settings;
}

static inline char *directory_new(char path[64]) {
  strcpy(path, "/tmp/spanprof-test-XXXXXX");
  CHECK(mkdtemp(path) != NULL);
  return path;
}

static inline int directory_remove_one(const char *path,
                                       const struct stat *info, int type,
                                       struct FTW *walk) {
  (void)info;
  (void)type;
  (void)walk;
  return remove(path);
}

static inline void directory_remove(const char *path) {
  CHECK(nftw(path, directory_remove_one, 16, FTW_DEPTH | FTW_PHYS) == 0);
}

/* Count the entries of a directory, also hidden ones, whose names end in
 * `suffix`. */
static inline size_t directory_count(const char *path, const char *suffix) {
  DIR *directory = opendir(path);
  size_t count = 0, size = strlen(suffix);
  struct dirent *entry;

  CHECK(directory != NULL);
  while ((entry = readdir(directory)) != NULL) {
    size_t length = strlen(entry->d_name);

    if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
        length >= size && strcmp(entry->d_name + length - size, suffix) == 0)
      count++;
  }
  closedir(directory);
  return count;
}

#endif
