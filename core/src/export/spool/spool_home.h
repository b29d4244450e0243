/* One process's own directory in the spool: `spanprof-{pid}-{ns}`, with a lock
 * file that its process holds locked for life.
 *
 * Whoever can lock it owns what lies in it: its maker, or, when that died, the
 * one living process that came first. The lock is a POSIX record lock: it ends
 * with its process however that ends, and a forked child does not have it. (It
 * also ends when any descriptor of the file is closed in this process, so a
 * home of ours is never opened twice.)
 *
 * Someone may remove the lock file, as cleaners of /tmp do. Its owner looks for
 * it each minute and makes it anew, and nobody else takes a home without one
 * unless nothing has changed in it for ten. */
#ifndef SP_SPOOL_HOME_H
#define SP_SPOOL_HOME_H

#include <sys/types.h>

#include "util/memory/mem.h"

#define SP_SPOOL_HOME_NAME_BYTES 64

typedef struct sp_spool_home {
  char name[SP_SPOOL_HOME_NAME_BYTES]; /* "": this slot is free */
  const char *spool;                   /* the directory it is in */
  char *path;
  dev_t device; /* of the lock file, to know it again after a fork */
  ino_t inode;
  _Atomic int lock_fd; /* -1: not open */
  bool own;
  size_t files;
} sp_spool_home;

void sp_spool_home_init(sp_spool_home *home);

/* Make one in `spool`, locked; `spool` outlives it. SPANPROF_ERR_IO in a
 * sentence, SPANPROF_ERR_SYSTEM the same where nothing can be locked (as on NFS
 * without its lock daemon), SPANPROF_ERR_NOMEM: `home` is free again, and
 * nothing is left of it. */
spanprof_status sp_spool_home_create(sp_spool_home *home, const sp_mem *mem,
                                     const char *spool, uint64_t unix_ns);

/* Take over the one called `name`. SPANPROF_ERR_STATE: its process lives, or it
 * is gone. SPANPROF_ERR_IO also of one that others can write. Other statuses
 * and `home` as above. */
spanprof_status sp_spool_home_claim(sp_spool_home *home, const sp_mem *mem,
                                    const char *spool, const char *name,
                                    uint64_t unix_ns);

/* Make its lock anew if that was removed. False: it is not ours any more, since
 * another process has it, or its directory is gone. */
bool sp_spool_home_verify(sp_spool_home *home);

/* Is this the name of a home? */
bool sp_spool_home_is_name(const char *name);

/* Open its directory, which the caller closes. SPANPROF_ERR_IO, in a
 * sentence. */
spanprof_status sp_spool_home_open(int *out, const sp_spool_home *home);

/* Has someone removed its directory? */
bool sp_spool_home_gone(const sp_spool_home *home);

/* Unlock; an empty one is removed. */
void sp_spool_home_release(sp_spool_home *home, const sp_mem *mem);

/* Unlock one that is not ours any more. What is in it stays. */
void sp_spool_home_abandon(sp_spool_home *home, const sp_mem *mem);

/* In a forked child: close the inherited descriptor, touch nothing else. */
void sp_spool_home_after_fork_child(sp_spool_home *home);

#endif
