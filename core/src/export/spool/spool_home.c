#include "spool_home.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/system/directory.h"
#include "util/system/file.h"
#include "util/system/status.h"
#include "util/text/number.h"

#define HOME_PREFIX    "spanprof-"
#define HOME_LOCK      "lock"
#define HOME_MAX_TRIES 16

/* If a home has had no lock file for this time, its owner is dead. A living
 * owner checks its lock file ten times in this time (spool.c). */
#define HOME_ABANDONED_S 600

void sp_spool_home_init(sp_spool_home *home) {
  memset(home, 0, sizeof *home);
  atomic_store(&home->lock_fd, -1);
}

bool sp_spool_home_is_name(const char *name) {
  uint64_t number;

  if (strlen(name) >= SP_SPOOL_HOME_NAME_BYTES ||
      strncmp(name, HOME_PREFIX, sizeof HOME_PREFIX - 1) != 0)
    return false;
  name += sizeof HOME_PREFIX - 1;
  return sp_number_read_canonical(&name, &number) && *name++ == '-' &&
         sp_number_read_canonical(&name, &number) && *name == '\0';
}

static bool home_is_lock(const sp_spool_home *home, const struct stat *info) {
  return info->st_dev == home->device && info->st_ino == home->inode;
}

/* Is the lock file still open? Other code may have closed its descriptor and
 * reused the number (programs that become daemons close all descriptors). */
static bool home_locked(const sp_spool_home *home) {
  int fd = atomic_load(&home->lock_fd);
  struct stat info;

  return fd >= 0 && fstat(fd, &info) == 0 && home_is_lock(home, &info);
}

static void home_unlock(sp_spool_home *home) {
  if (home_locked(home))
    close(atomic_load(&home->lock_fd));
  atomic_store(&home->lock_fd, -1);
}

spanprof_status sp_spool_home_open(int *out, const sp_spool_home *home) {
  return sp_directory_open(out, home->spool, home->name);
}

bool sp_spool_home_is_missing(const sp_spool_home *home) {
  return access(home->path, F_OK) != 0 && errno == ENOENT;
}

/* Lock the open lock file. Returns SPANPROF_ERR_STATE if another process has
 * the lock, or if the owner has removed the file, so that its name is free or
 * belongs to another file now. */
static spanprof_status home_lock_file(sp_spool_home *home, int directory,
                                      int fd) {
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  struct stat info, named;

  if (fstat(fd, &info) != 0 || !sp_file_is_ours(&info, UINT64_MAX))
    return sp_fail(SPANPROF_ERR_IO,
                   "%s/" HOME_LOCK " is not a file of this user", home->path);
  if (fcntl(fd, F_SETLK, &lock) != 0)
    return errno == EACCES || errno == EAGAIN
               ? SPANPROF_ERR_STATE
               : sp_fail_errno(SPANPROF_ERR_SYSTEM, errno,
                               "%s/" HOME_LOCK " cannot be locked", home->path);
  if (fstatat(directory, HOME_LOCK, &named, AT_SYMLINK_NOFOLLOW) != 0 ||
      info.st_dev != named.st_dev || info.st_ino != named.st_ino)
    return SPANPROF_ERR_STATE;
  home->device = info.st_dev;
  home->inode = info.st_ino;
  atomic_store(&home->lock_fd, fd);
  return SPANPROF_OK;
}

/* Open and lock the lock file. Returns SPANPROF_ERR_STATE if home_lock_file()
 * does, if the file does not exist, or if it exists and `flags` contain O_EXCL.
 */
static spanprof_status home_lock(sp_spool_home *home, int flags) {
  int directory, fd;
  spanprof_status st = sp_spool_home_open(&directory, home);

  if (st)
    return st;
  fd = openat(directory, HOME_LOCK,
              O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | flags, 0600);
  if (fd >= 0)
    st = home_lock_file(home, directory, fd);
  else if (errno == ENOENT || errno == EEXIST)
    st = SPANPROF_ERR_STATE;
  else
    st = sp_fail_errno(SPANPROF_ERR_IO, errno,
                       "%s/" HOME_LOCK " cannot be opened", home->path);
  if (st && fd >= 0)
    close(fd);
  close(directory);
  return st;
}

static spanprof_status home_name(sp_spool_home *home, const sp_mem *mem,
                                 const char *spool, const char *name) {
  char path[PATH_MAX];

  if (!sp_directory_path(path, sizeof path, spool, name))
    return sp_fail_errno(SPANPROF_ERR_IO, ENAMETOOLONG,
                         "spool_directory %s cannot be used", spool);
  home->path = sp_mem_text(mem, path, strlen(path));
  if (!home->path)
    return SPANPROF_ERR_NOMEM;
  home->spool = spool;
  memmove(home->name, name, strlen(name) + 1);
  return SPANPROF_OK;
}

/* Create the directory of the home. Returns SPANPROF_ERR_STATE if a home of
 * this name exists. */
static spanprof_status home_make_directory(const sp_spool_home *home) {
  int spool, error;
  spanprof_status st = sp_directory_open(&spool, home->spool, NULL);

  if (st)
    return st;
  error = mkdirat(spool, home->name, 0700) != 0 ? errno : 0;
  close(spool);
  if (error == EEXIST)
    return SPANPROF_ERR_STATE;
  return error ? sp_fail_errno(SPANPROF_ERR_IO, error, "%s cannot be created",
                               home->path)
               : SPANPROF_OK;
}

static void home_remove(const sp_spool_home *home) {
  int directory, spool;

  if (sp_directory_open(&spool, home->spool, NULL))
    return;
  if (!sp_spool_home_open(&directory, home)) {
    unlinkat(directory, HOME_LOCK, 0);
    close(directory);
    unlinkat(spool, home->name, AT_REMOVEDIR);
  }
  close(spool);
}

static void home_clear(sp_spool_home *home, const sp_mem *mem) {
  home_unlock(home);
  sp_mem_free(mem, home->path);
  sp_spool_home_init(home);
}

spanprof_status sp_spool_home_create(sp_spool_home *home, const sp_mem *mem,
                                     const char *spool, uint64_t unix_ns) {
  spanprof_status st = SPANPROF_ERR_STATE;
  uint64_t i;

  /* Another process may lock the new home before this process does. The other
   * process then removes the home, and this process creates a second one. */
  for (i = 0; i < HOME_MAX_TRIES && st == SPANPROF_ERR_STATE; i++) {
    char name[SP_SPOOL_HOME_NAME_BYTES];

    snprintf(name, sizeof name, HOME_PREFIX "%ld-%llu", (long)getpid(),
             (unsigned long long)(unix_ns + i));
    st = home_name(home, mem, spool, name);
    if (!st)
      st = home_make_directory(home);
    if (!st) {
      st = home_lock(home, O_CREAT | O_EXCL);
      if (st && st != SPANPROF_ERR_STATE)
        home_remove(home);
    }
    if (st)
      home_clear(home, mem);
  }
  home->own = true;
  if (st == SPANPROF_ERR_STATE)
    return sp_fail(SPANPROF_ERR_IO, "no directory could be created in %s",
                   spool);
  return st;
}

/* Has the home had no lock file for so long that no living process owns it? */
static bool home_is_abandoned(const sp_spool_home *home, uint64_t unix_ns) {
  struct stat info, lock;
  int directory;
  bool left;

  if (sp_spool_home_open(&directory, home))
    return false;
  left = fstatat(directory, HOME_LOCK, &lock, AT_SYMLINK_NOFOLLOW) != 0 &&
         errno == ENOENT && fstat(directory, &info) == 0 &&
         (uint64_t)info.st_mtime + HOME_ABANDONED_S < unix_ns / SP_NS_PER_S;
  close(directory);
  return left;
}

spanprof_status sp_spool_home_claim(sp_spool_home *home, const sp_mem *mem,
                                    const char *spool, const char *name,
                                    uint64_t unix_ns) {
  spanprof_status st = home_name(home, mem, spool, name);

  if (!st)
    st = home_lock(home, home_is_abandoned(home, unix_ns) ? O_CREAT : 0);
  /* The owner has removed the home since the spool was listed. */
  if (st == SPANPROF_ERR_IO && sp_spool_home_is_missing(home))
    st = SPANPROF_ERR_STATE;
  if (st)
    home_clear(home, mem);
  return st;
}

bool sp_spool_home_verify(sp_spool_home *home) {
  struct stat info;
  int directory;
  bool kept;

  if (sp_spool_home_open(&directory, home))
    return !sp_spool_home_is_missing(home);
  kept = home_locked(home) &&
         fstatat(directory, HOME_LOCK, &info, AT_SYMLINK_NOFOLLOW) == 0 &&
         home_is_lock(home, &info);
  close(directory);
  if (kept)
    return true;
  home_unlock(home);
  return home_lock(home, O_CREAT) != SPANPROF_ERR_STATE;
}

void sp_spool_home_release(sp_spool_home *home, const sp_mem *mem) {
  /* Remove the home while it is locked, so that no other process takes it over
   * during the removal. */
  if (home->files == 0 && sp_spool_home_verify(home))
    home_remove(home);
  home_clear(home, mem);
}

void sp_spool_home_abandon(sp_spool_home *home, const sp_mem *mem) {
  home_clear(home, mem);
}

void sp_spool_home_after_fork_child(sp_spool_home *home) {
  home_unlock(home);
}
