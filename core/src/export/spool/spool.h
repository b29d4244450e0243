/* The spool: profiles that could not be sent wait on disk, also for the next
 * process. Used by the uploading thread, or by the thread that stops it.
 *
 * Protocol between processes: each process stores its files in a home of its
 * own (spool_home.h). It touches only files of homes that it has locked: its
 * own, and those of dead processes, each of which exactly one living process
 * has locked. A file is removed after the server accepted the profile. After a
 * crash between the two, the profile is sent again, and the server removes the
 * duplicate, because a profile's identity is its series and time (recorded from
 * Pyroscope 3fe6a457a). All processes that share a spool send to the same
 * server. The file contains the labels.
 *
 * While a process has a file, it counts the file's age in monotonic time, and
 * drops the file when it is too old. The initial age of another process's file
 * is computed from Unix time, but is at most half of spool_max_age_s, so that
 * after a jump of that clock the other half remains for sending. The size limit
 * applies to the whole directory; each process frees space by dropping its own
 * files. */
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
  uint64_t samples; /* 0 unless `own` */
  uint64_t ticks;
  sp_tries tries;
  bool own;       /* spooled by this process, which counts its samples */
  bool delivered; /* accepted by the callback or the output directory */
  sp_spool_home *home;
} sp_spool_entry;

/* Called for every entry that is removed unsent because of age, space or
 * damage. */
typedef void (*sp_spool_dropped_fn)(void *data, const sp_spool_entry *entry,
                                    const char *why);

typedef struct sp_spool sp_spool;

/* Create a spool. SPANPROF_ERR_IO: the directory cannot be used.
 * SPANPROF_ERR_NOMEM. */
spanprof_status sp_spool_new(sp_spool **out, const sp_mem *mem,
                             const sp_settings *settings, const sp_clock *clock,
                             sp_spool_dropped_fn dropped, void *dropped_data);

/* Free the spool, which may be NULL. The files stay. */
void sp_spool_free(sp_spool *spool);

/* Store an upload, which stays the caller's. SPANPROF_ERR_LIMIT: there is no
 * space. SPANPROF_ERR_IO. SPANPROF_ERR_SYSTEM: files cannot be locked there.
 * SPANPROF_ERR_NOMEM. The last error has the reason of an IO or SYSTEM error.
 */
spanprof_status sp_spool_put(sp_spool *spool, const sp_upload *upload,
                             const sp_series *series);

/* Take over the files of dead processes, at most once a minute.
 * SPANPROF_ERR_IO: the spool, or something in it, cannot be read or is not
 * trusted; the other files were handled. SPANPROF_ERR_SYSTEM: as above. */
spanprof_status sp_spool_claim(sp_spool *spool);

/* Return when sp_spool_claim() will look again, monotonic. */
uint64_t sp_spool_claim_ns(const sp_spool *spool);

/* Return the oldest entry that may be sent at `now_ns`, or NULL. Valid until
 * the next call of a function other than sp_spool_read(). */
sp_spool_entry *sp_spool_next(sp_spool *spool, uint64_t now_ns);

/* Return when the next entry may be sent, or UINT64_MAX if there is none. */
uint64_t sp_spool_next_ns(const sp_spool *spool);

/* Read the file of an entry. SPANPROF_ERR_FORMAT: the file is damaged or
 * missing; the entry was dropped. SPANPROF_ERR_IO, SPANPROF_ERR_NOMEM: a later
 * try may succeed. */
spanprof_status sp_spool_read(sp_spool *spool, sp_spool_entry *entry,
                              sp_spool_file *out);

/* Remove an entry that was sent or refused. */
void sp_spool_remove(sp_spool *spool, sp_spool_entry *entry);

/* Call `visit` for every entry that this process spooled. */
void sp_spool_each_own(const sp_spool *spool,
                       void (*visit)(void *data, const sp_spool_entry *entry),
                       void *data);

/* In a forked child: the files belong to the parent. Forgets all entries and
 * frees nothing, because the parent's thread may have been using them. */
void sp_spool_after_fork_child(sp_spool *spool);

#endif
