/* The spool: a directory in which profiles that could not be sent wait to be
 * sent again, by this process or the next one. Only the uploading thread calls
 * these functions, or the thread that stops the exporter.
 *
 * Protocol between processes: each process stores its files in a directory of
 * its own in the spool, its home (spool_home.h). A process touches only the
 * files of homes that it has locked: its own home, and homes of dead processes.
 * A home is locked by at most one process. A file is removed after the server
 * has accepted its profile. If a process crashes between the two, the profile
 * is sent again, and the server removes the duplicate, because a profile is
 * identified by its series and time (as recorded with Pyroscope 3fe6a457a). All
 * processes that share a spool send to the same server. A file contains the
 * labels of its profile.
 *
 * While a process owns a file, it counts the file's age in monotonic time, and
 * drops the file when it is older than spool_max_age_s. When a process takes
 * over a file, it computes the file's age from Unix time. This age is at most
 * half of spool_max_age_s, so that after a jump of the clock there is still
 * time to send the profile. The size limit applies to the whole spool
 * directory; each process frees space by dropping its own files. */
#ifndef SP_SPOOL_H
#define SP_SPOOL_H

#include "export/upload/series.h"
#include "export/upload/upload.h"
#include "settings/settings.h"
#include "spool_file.h"
#include "spool_home.h"
#include "util/system/clock.h"
#include "util/system/log.h"

typedef struct sp_spool_entry {
  uint64_t time_ns;
  uint64_t bytes;   /* size on disk */
  uint64_t samples; /* 0 if not `own` */
  uint64_t ticks;
  sp_tries tries;
  bool own;       /* this process spooled it and counts its samples */
  bool delivered; /* accepted by the callback or the output directory */
  sp_spool_home *home;
} sp_spool_entry;

/* Called for every entry that is removed without having been sent, because it
 * is too old or damaged, or because space is needed. */
typedef void (*sp_spool_dropped_fn)(void *data, const sp_spool_entry *entry,
                                    const char *why);

typedef struct sp_spool sp_spool;

/* Create a spool. Returns SPANPROF_ERR_ARGUMENT or SPANPROF_ERR_IO if the
 * directory cannot be used, or SPANPROF_ERR_NOMEM. */
spanprof_status sp_spool_new(sp_spool **out, const sp_mem *mem,
                             const sp_settings *settings, const sp_clock *clock,
                             sp_spool_dropped_fn dropped, void *dropped_data);

/* Free the spool, which may be NULL. The files stay. */
void sp_spool_free(sp_spool *spool);

/* Store an upload. The caller still owns it. Returns SPANPROF_ERR_LIMIT if the
 * spool is full, SPANPROF_ERR_IO if the file cannot be written,
 * SPANPROF_ERR_SYSTEM if files in the directory cannot be locked, or
 * SPANPROF_ERR_NOMEM. With SPANPROF_ERR_IO and SPANPROF_ERR_SYSTEM, the last
 * error has the reason. */
spanprof_status sp_spool_put(sp_spool *spool, const sp_upload *upload,
                             const sp_series *series);

/* Look for homes of dead processes, at most once a minute, and take over their
 * files. Returns SPANPROF_ERR_IO if the spool or something in it cannot be read
 * or is not trusted; all other files were handled. Returns SPANPROF_ERR_SYSTEM
 * if files in the directory cannot be locked. */
spanprof_status sp_spool_claim(sp_spool *spool);

/* Return the monotonic time at which sp_spool_claim() will look again. */
uint64_t sp_spool_claim_ns(const sp_spool *spool);

/* Return the oldest entry that may be sent at `now_ns`, or NULL. The entry is
 * valid until the next call of a function of this file other than
 * sp_spool_read(). */
sp_spool_entry *sp_spool_next(sp_spool *spool, uint64_t now_ns);

/* Return the monotonic time at which the next entry may be sent, or UINT64_MAX
 * if there is no entry. */
uint64_t sp_spool_next_ns(const sp_spool *spool);

/* Read the file of an entry. Returns SPANPROF_ERR_FORMAT if the file is damaged
 * or missing; the entry was dropped. Returns SPANPROF_ERR_IO or
 * SPANPROF_ERR_NOMEM if a later try may succeed. */
spanprof_status sp_spool_read(sp_spool *spool, sp_spool_entry *entry,
                              sp_spool_file *out);

/* Remove an entry that was sent, or that the server has refused. */
void sp_spool_remove(sp_spool *spool, sp_spool_entry *entry);

/* Call `visit` for every entry that this process has spooled. */
void sp_spool_each_own(const sp_spool *spool,
                       void (*visit)(void *data, const sp_spool_entry *entry),
                       void *data);

/* Called in a forked child: forget all entries, because the files belong to the
 * parent. Frees nothing, because the parent's uploading thread may have been
 * changing the lists at the fork. */
void sp_spool_after_fork_child(sp_spool *spool);

#endif
