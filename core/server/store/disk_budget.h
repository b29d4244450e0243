/* The limits for the sizes of the store's files, and the reserve, a file of a
 * few MB that only reserves space. Deleting rows needs space for the log. On a
 * full volume the store therefore deletes the reserve, then rows, returns free
 * pages to the volume, and creates the reserve again. */
#ifndef SP_DISK_BUDGET_H
#define SP_DISK_BUDGET_H

#include "util/base.h"

typedef struct sp_disk_budget {
  /* Present sizes in bytes. */
  uint64_t database;
  uint64_t log; /* including its index */
  uint64_t reserve;
  uint64_t free; /* on the volume; UINT64_MAX: not known */
  /* Limits in bytes. */
  uint64_t limit;        /* of all files, set by the option or by the volume */
  uint64_t log_max;      /* one transaction may exceed it once */
  uint64_t log_soft_max; /* a log of this size is truncated */
  uint64_t reserve_max;  /* intended size of the reserve */
  uint64_t data_max;     /* pages in use above which writers must wait */
  uint64_t data_high;    /* pages in use above which the oldest data is
                          * deleted */
  bool by_volume;        /* the volume sets the limit */
} sp_disk_budget;

/* Read the sizes of the files of the store `path` and the free space of its
 * volume. If `max_bytes` is 0, only the volume sets the limit. */
void sp_disk_budget_read(sp_disk_budget *out, const char *path,
                         uint64_t max_bytes);

/* Size in bytes of the store's file with this suffix, 0 if there is none. */
uint64_t sp_disk_bytes(const char *path, const char *suffix);

/* Create the reserve, or delete it if the volume is full. If it cannot be
 * created, the next call tries again. */
void sp_disk_reserve_update(const sp_disk_budget *budget, const char *path);

/* Create the reserve while the store is closed. It uses the space of the log,
 * which is deleted then. If another program fills the volume, the reserve gives
 * the next start enough space. */
void sp_disk_reserve_close(sp_disk_budget *budget, const char *path);

/* Delete the reserve. Its space is free until the next call of
 * sp_disk_reserve_update(). */
void sp_disk_reserve_delete(const char *path);

#endif
