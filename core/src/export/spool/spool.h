/* The spool: profiles that could not be sent wait on disk, also for the next
 * process. Used by the uploading thread alone, or by who stops it.
 *
 * Protocol between processes: each keeps its files in a home of its own
 * (spool_home.h) and touches only files of homes it has locked: its own, and
 * those of dead processes, of which each is locked by exactly one living one.
 * A file is removed after the server took it; a crash between the two sends it
 * again, which the server removes, because a profile's identity is its series
 * and time (recorded from Pyroscope 3fe6a457a). All processes that share a
 * spool send to the same server; labels travel in the file.
 *
 * A process counts the age of a file while it holds it, in monotonic time, and
 * drops it when it is too old. One that another left is as old as Unix time
 * says when it is taken over, but no more than half of spool_max_age_s: where
 * that clock leapt in between, the other half is left to send it. The cap in
 * bytes is of the whole directory: each process makes room among the files it
 * holds. */
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
  uint64_t bytes;   /* of disk */
  uint64_t samples; /* 0 unless own */
  uint64_t ticks;
  sp_tries tries;
  bool own;       /* spooled by this process: its samples are ours to settle */
  bool delivered; /* by callback or output directory */
  sp_spool_home *home;
} sp_spool_entry;

/* Told of every entry that is removed unsent, for age, room or damage. */
typedef void (*sp_spool_dropped_fn)(void *data, const sp_spool_entry *entry,
                                    const char *why);

typedef struct sp_spool sp_spool;

/* SPANPROF_ERR_IO: the directory cannot be used; SPANPROF_ERR_NOMEM. */
spanprof_status sp_spool_new(sp_spool **out, const sp_mem *mem,
                             const sp_settings *settings, const sp_clock *clock,
                             sp_spool_dropped_fn lost, void *lost_data);

/* The files stay; `NULL` is fine. */
void sp_spool_free(sp_spool *spool);

/* Store an upload, which stays the caller's. SPANPROF_ERR_LIMIT: no room;
 * SPANPROF_ERR_IO, in a sentence; SPANPROF_ERR_SYSTEM, in a sentence: no file
 * can be locked there; SPANPROF_ERR_NOMEM. */
spanprof_status sp_spool_put(sp_spool *spool, const sp_upload *upload,
                             const sp_series *series);

/* Look for what dead processes left, at most once a minute. SPANPROF_ERR_IO, in
 * a sentence: the spool, or something in it, cannot be read or is not to be
 * trusted; the rest was looked at. SPANPROF_ERR_SYSTEM as above. */
spanprof_status sp_spool_claim(sp_spool *spool);

/* When sp_spool_claim() would look again, monotonic. */
uint64_t sp_spool_claim_ns(const sp_spool *spool);

/* The oldest that may be sent at `now_ns`, NULL if there is none. Valid until
 * the next call but sp_spool_read(). */
sp_spool_entry *sp_spool_next(sp_spool *spool, uint64_t now_ns);

/* When the next may be sent, UINT64_MAX where there is none. */
uint64_t sp_spool_next_ns(const sp_spool *spool);

/* Read what it holds. SPANPROF_ERR_FORMAT: it was damaged or gone, and is
 * removed and told of as lost. SPANPROF_ERR_IO, SPANPROF_ERR_NOMEM: another
 * time it may be read. */
spanprof_status sp_spool_read(sp_spool *spool, sp_spool_entry *entry,
                              sp_spool_file *out);

/* Remove one that was sent or refused. */
void sp_spool_remove(sp_spool *spool, sp_spool_entry *entry);

/* Call `visit` for every entry of this process. */
void sp_spool_each_own(const sp_spool *spool,
                       void (*visit)(void *data, const sp_spool_entry *entry),
                       void *data);

/* In a forked child: the files are the parent's. Forgets all and frees nothing,
 * because the parent's thread may have been at work on it. */
void sp_spool_after_fork_child(sp_spool *spool);

#endif
