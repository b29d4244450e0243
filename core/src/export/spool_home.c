#include "spool_home.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../util/status.h"
#include "directory.h"

#define HOME_PREFIX    "spanprof-"
#define HOME_LOCK      "lock"
#define HOME_MAX_TRIES 16

void sp_spool_home_init(sp_spool_home *home) {
  memset(home, 0, sizeof *home);
  atomic_store(&home->lock_fd, -1);
}

bool sp_spool_home_named(const char *name) {
  uint64_t number;

  if (strlen(name) >= SP_SPOOL_HOME_NAME_BYTES ||
      strncmp(name, HOME_PREFIX, sizeof HOME_PREFIX - 1) != 0)
    return false;
  name += sizeof HOME_PREFIX - 1;
  return sp_directory_number(&name, &number) && *name++ == '-' &&
         sp_directory_number(&name, &number) && *name == '\0';
}

/* Close the lock file, unless someone else closed it and the number means
 * another file now (programs that become daemons close everything). */
static void home_unlock(sp_spool_home *home) {
  int fd = atomic_exchange(&home->lock_fd, -1);
  struct stat info;

  if (fd >= 0 && fstat(fd, &info) == 0 && info.st_dev == home->device &&
      info.st_ino == home->inode)
    close(fd);
}

/* Lock the file; SPANPROF_ERR_STATE: another process has it, or it is not the
 * file of that name any more (its owner removed it meanwhile). */
static spanprof_status home_lock(sp_spool_home *home, int flags) {
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  char path[PATH_MAX];
  struct stat info, named;
  int fd;

  if (!sp_directory_path(path, sizeof path, home->path, HOME_LOCK))
    return sp_fail_errno(SPANPROF_ERR_IO, ENAMETOOLONG,
                         "spool_directory %s cannot be used", home->path);
  fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | flags, 0600);
  if (fd < 0)
    return errno == ENOENT || errno == EEXIST
               ? SPANPROF_ERR_STATE
               : sp_fail_errno(SPANPROF_ERR_IO, errno, "%s cannot be opened",
                               path);
  if (fcntl(fd, F_SETLK, &lock) != 0) {
    int error = errno;

    close(fd);
    return error == EACCES || error == EAGAIN
               ? SPANPROF_ERR_STATE
               : sp_fail_errno(SPANPROF_ERR_IO, error, "%s cannot be locked",
                               path);
  }
  if (fstat(fd, &info) != 0 || lstat(path, &named) != 0 ||
      info.st_dev != named.st_dev || info.st_ino != named.st_ino) {
    close(fd);
    return SPANPROF_ERR_STATE;
  }
  home->device = info.st_dev;
  home->inode = info.st_ino;
  atomic_store(&home->lock_fd, fd);
  return SPANPROF_OK;
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
  memmove(home->name, name, strlen(name) + 1);
  return SPANPROF_OK;
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

  /* A claimer may lock a home between its making and its locking: then it is
   * the claimer's to remove, and another one is made. */
  for (i = 0; i < HOME_MAX_TRIES && st == SPANPROF_ERR_STATE; i++) {
    char name[SP_SPOOL_HOME_NAME_BYTES];

    snprintf(name, sizeof name, HOME_PREFIX "%ld-%llu", (long)getpid(),
             (unsigned long long)(unix_ns + i));
    st = home_name(home, mem, spool, name);
    if (!st && mkdir(home->path, 0700) != 0)
      st = errno == EEXIST ? SPANPROF_ERR_STATE
                           : sp_fail_errno(SPANPROF_ERR_IO, errno,
                                           "%s cannot be created", home->path);
    else if (!st)
      st = home_lock(home, O_EXCL);
    if (st)
      home_clear(home, mem);
  }
  home->own = true;
  if (st == SPANPROF_ERR_STATE)
    return sp_fail(SPANPROF_ERR_IO, "no directory could be made in %s", spool);
  return st;
}

spanprof_status sp_spool_home_claim(sp_spool_home *home, const sp_mem *mem,
                                    const char *spool, const char *name) {
  spanprof_status st = home_name(home, mem, spool, name);

  if (!st)
    st = home_lock(home, 0);
  if (st)
    home_clear(home, mem);
  return st;
}

void sp_spool_home_release(sp_spool_home *home, const sp_mem *mem) {
  char path[PATH_MAX];

  /* Removed while locked, so that nobody owns half of it. */
  if (home->files == 0 &&
      sp_directory_path(path, sizeof path, home->path, HOME_LOCK)) {
    unlink(path);
    rmdir(home->path);
  }
  home_clear(home, mem);
}

void sp_spool_home_after_fork_child(sp_spool_home *home) {
  home_unlock(home);
}
