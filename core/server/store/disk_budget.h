/* The limits for the sizes of the store's files, and the reserve, a file of a
 * few MB that only reserves space. Deleting rows needs space for SQLite's
 * write-ahead log. On a full volume the store therefore deletes the reserve and
 * then rows, returns free pages to the volume, and creates the reserve again.
 */
#ifndef SP_DISK_BUDGET_H
#define SP_DISK_BUDGET_H

#include "util/base.h"

typedef struct sp_disk_budget {
  /* Current sizes in bytes. */
  uint64_t database;
  uint64_t log; /* the write-ahead log and its index */
  uint64_t reserve;
  uint64_t free; /* free space on the volume; UINT64_MAX: not known */
  /* Limits in bytes. */
  uint64_t limit;        /* for all files together, set by the option or by the
                          * volume */
  uint64_t log_max;      /* for the log; exceeded at most by one transaction */
  uint64_t log_soft_max; /* a log above this size is truncated */
  uint64_t reserve_max;  /* intended size of the reserve */
  uint64_t data_max;     /* if the pages in use exceed this size, uploads must
                          * wait */
  uint64_t data_high; /* if the pages in use exceed this size, the oldest data
                       * is deleted */
  bool by_volume;     /* `limit` is set by the volume */
} sp_disk_budget;

/* Read the sizes of the files of the store `path` and the free space of its
 * volume, and compute the limits. If `max_bytes` is 0, only the volume sets the
 * limit. */
void sp_disk_budget_read(sp_disk_budget *out, const char *path,
                         uint64_t max_bytes);

/* Size in bytes of the store's file with this suffix, 0 if there is none. */
uint64_t sp_disk_bytes(const char *path, const char *suffix);

/* Create the reserve file, or delete it if the volume is full. If the file
 * cannot be created, the next call tries again. */
void sp_disk_reserve_update(const sp_disk_budget *budget, const char *path);

/* Create the reserve after the store was closed. The log does not exist then,
 * so the reserve may use its space. The next start then has enough space, even
 * if another program fills the volume. */
void sp_disk_reserve_close(sp_disk_budget *budget, const char *path);

/* Delete the reserve. Its space is free until the next call of
 * sp_disk_reserve_update(). */
void sp_disk_reserve_delete(const char *path);

#endif
