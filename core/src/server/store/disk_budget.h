/* How many bytes the files of the store may have, and a file of a few MB that
 * only reserves space. Deleting rows needs space for the log, so on a full
 * volume the store gives up the reserve, deletes, returns pages to the volume,
 * and reserves the space again. */
#ifndef SP_DISK_BUDGET_H
#define SP_DISK_BUDGET_H

#include "../../util/base.h"

typedef struct sp_disk_budget {
  /* Now, in bytes. */
  uint64_t database;
  uint64_t log; /* with its index */
  uint64_t reserve;
  uint64_t free; /* of the volume; UINT64_MAX: not known */
  /* Bounds, in bytes. */
  uint64_t limit;       /* of all files: by the option and by the volume */
  uint64_t log_max;     /* one transaction may go beyond it once */
  uint64_t log_turn;    /* a log of this size is emptied */
  uint64_t reserve_max; /* the reserve is to have this size */
  uint64_t data_max;    /* pages in use: what more comes has to wait */
  uint64_t data_high;   /* pages in use: the oldest data is dropped */
  bool by_volume;       /* the limit is the volume's */
} sp_disk_budget;

/* Look at the files of the store `path` and at its volume. `max_bytes` 0: the
 * volume alone is the limit. */
void sp_disk_budget_read(sp_disk_budget *out, const char *path,
                         uint64_t max_bytes);

/* Bytes of the file beside the store with this ending; 0: there is none. */
uint64_t sp_disk_bytes(const char *path, const char *ending);

/* Bring the reserve to its size, or give it up where the volume is full. A
 * reserve that cannot be made is tried again by the next call. */
void sp_disk_reserve_keep(const sp_disk_budget *budget, const char *path);

/* The space is free until the next call of sp_disk_reserve_keep(). */
void sp_disk_reserve_give_up(const char *path);

#endif
