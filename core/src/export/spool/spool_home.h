/* A home: the directory of a process in the spool, `spanprof-{pid}-{ns}`, with
 * a lock file that the process keeps locked.
 *
 * The process that has the lock owns the files of the home. This is the process
 * that created the home, or, after that process has died, the first living
 * process that locks it. The lock is a POSIX record lock: it ends with its
 * process in all cases, and a forked child does not have it. (It also ends if
 * the process closes any descriptor of the lock file, so a process never opens
 * the lock file of its own home twice.)
 *
 * Other programs may remove the lock file, as cleaners of /tmp do. The owner of
 * the home checks this once a minute and creates the file again. Another
 * process takes over a home without a lock file only if nothing has changed in
 * the home for ten minutes. */
#ifndef SP_SPOOL_HOME_H
#define SP_SPOOL_HOME_H

#include <sys/types.h>

#include "util/memory/mem.h"

#define SP_SPOOL_HOME_NAME_BYTES 64

typedef struct sp_spool_home {
  char name[SP_SPOOL_HOME_NAME_BYTES]; /* "": this structure is free */
  const char *spool;                   /* path of the spool directory */
  char *path;
  /* Device and inode of the lock file, which identify it after a fork. */
  dev_t device;
  ino_t inode;
  _Atomic int lock_fd; /* descriptor of the lock file; -1: not open */
  bool own;
  size_t files;
} sp_spool_home;

void sp_spool_home_init(sp_spool_home *home);

/* Create a home in the directory `spool`, and lock it. The text `spool` must
 * outlive `home`. If the function fails, `home` is free, and no directory is
 * left. Returns SPANPROF_ERR_IO if the home cannot be created,
 * SPANPROF_ERR_SYSTEM if files in the spool cannot be locked (as on NFS without
 * a lock daemon), or SPANPROF_ERR_NOMEM. With SPANPROF_ERR_IO and
 * SPANPROF_ERR_SYSTEM, the last error has the reason. */
spanprof_status sp_spool_home_create(sp_spool_home *home, const sp_mem *mem,
                                     const char *spool, uint64_t unix_ns);

/* Take over the home `name`. Returns SPANPROF_ERR_STATE if the owner of the
 * home lives, or if the home no longer exists. Returns SPANPROF_ERR_IO also if
 * other users can write to the home. Other statuses are those of
 * sp_spool_home_create(). If the function fails, `home` is free. */
spanprof_status sp_spool_home_claim(sp_spool_home *home, const sp_mem *mem,
                                    const char *spool, const char *name,
                                    uint64_t unix_ns);

/* Create and lock the lock file again if it was removed. Returns false if the
 * home is lost, because another process has the lock or the directory no longer
 * exists. */
bool sp_spool_home_verify(sp_spool_home *home);

/* Is `name` the name of a home? */
bool sp_spool_home_is_name(const char *name);

/* Open the home's directory. The caller closes it. Returns SPANPROF_ERR_IO and
 * sets the last error if it cannot be opened. */
spanprof_status sp_spool_home_open(int *out, const sp_spool_home *home);

/* Does the home's directory no longer exist? */
bool sp_spool_home_is_missing(const sp_spool_home *home);

/* Unlock the home, and remove it if it is empty. */
void sp_spool_home_release(sp_spool_home *home, const sp_mem *mem);

/* Unlock a home that this process has lost. The files stay. */
void sp_spool_home_abandon(sp_spool_home *home, const sp_mem *mem);

/* Called in a forked child: close the inherited descriptor, and change nothing
 * else. */
void sp_spool_home_after_fork_child(sp_spool_home *home);

#endif
