/* A process's own directory in the spool, `spanprof-{pid}-{ns}`, with a lock
 * file that the process keeps locked.
 *
 * The process that has the lock owns the files of the home: its creator, or,
 * after that has died, the first living process that locks it. The lock is a
 * POSIX record lock: it ends with its process in all cases, and a forked child
 * does not have it. (It also ends if any descriptor of the file is closed in
 * this process, so a process never opens its own home's lock file twice.)
 *
 * Other programs may remove the lock file, as cleaners of /tmp do. Its owner
 * checks this once a minute and creates the file again. Another process takes
 * over a home without lock file only if nothing changed in the home for ten
 * minutes. */
#ifndef SP_SPOOL_HOME_H
#define SP_SPOOL_HOME_H

#include <sys/types.h>

#include "util/memory/mem.h"

#define SP_SPOOL_HOME_NAME_BYTES 64

typedef struct sp_spool_home {
  char name[SP_SPOOL_HOME_NAME_BYTES]; /* "": the slot is free */
  const char *spool;                   /* the spool's directory */
  char *path;
  dev_t device; /* of the lock file, to identify it after a fork */
  ino_t inode;
  _Atomic int lock_fd; /* -1: not open */
  bool own;
  size_t files;
} sp_spool_home;

void sp_spool_home_init(sp_spool_home *home);

/* Create a home in `spool`, and lock it. `spool` must outlive it. On failure
 * `home` is free, and no directory is left. SPANPROF_ERR_IO.
 * SPANPROF_ERR_SYSTEM: files cannot be locked there (as on NFS without a lock
 * daemon). SPANPROF_ERR_NOMEM. The last error has the reason of an IO or SYSTEM
 * error. */
spanprof_status sp_spool_home_create(sp_spool_home *home, const sp_mem *mem,
                                     const char *spool, uint64_t unix_ns);

/* Take over the home called `name`. SPANPROF_ERR_STATE: its process lives, or
 * the home no longer exists. SPANPROF_ERR_IO: also, other users can write to
 * it. Other statuses and `home`: as above. */
spanprof_status sp_spool_home_claim(sp_spool_home *home, const sp_mem *mem,
                                    const char *spool, const char *name,
                                    uint64_t unix_ns);

/* Create the lock again if it was removed. Returns false if the home is lost:
 * another process has the lock, or the directory no longer exists. */
bool sp_spool_home_verify(sp_spool_home *home);

/* Is this the name of a home? */
bool sp_spool_home_is_name(const char *name);

/* Open the home's directory, which the caller closes. SPANPROF_ERR_IO: the last
 * error has the reason. */
spanprof_status sp_spool_home_open(int *out, const sp_spool_home *home);

/* Was the home's directory removed? */
bool sp_spool_home_is_missing(const sp_spool_home *home);

/* Unlock the home. If it is empty, remove it. */
void sp_spool_home_release(sp_spool_home *home, const sp_mem *mem);

/* Unlock a home that was lost. Its files stay. */
void sp_spool_home_abandon(sp_spool_home *home, const sp_mem *mem);

/* In a forked child: close the inherited descriptor, and change nothing else.
 */
void sp_spool_home_after_fork_child(sp_spool_home *home);

#endif
