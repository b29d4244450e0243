#include "disk_budget.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* Sizes of the log and the reserve: 1/PART of the limit, at least MIN and at
 * most MAX. */
#define BUDGET_LOG_PART     6
#define BUDGET_LOG_MIN      ((uint64_t)512 << 10)
#define BUDGET_LOG_MAX      ((uint64_t)128 << 20)
#define BUDGET_RESERVE_PART 16
#define BUDGET_RESERVE_MIN  ((uint64_t)1 << 20)
#define BUDGET_RESERVE_MAX  ((uint64_t)16 << 20)

/* log_soft_max is 1/PART of log_max, at most MAX. */
#define BUDGET_SOFT_PART 4
#define BUDGET_SOFT_MAX  ((uint64_t)16 << 20)

/* data_high is data_max minus 1/PART of data_max. */
#define BUDGET_HIGH_PART 16

static uint64_t budget_between(uint64_t bytes, uint64_t least, uint64_t most) {
  return bytes < least ? least : sp_min_u64(bytes, most);
}

uint64_t sp_disk_bytes(const char *path, const char *suffix) {
  char name[4096];
  struct stat file;

  snprintf(name, sizeof name, "%s%s", path, suffix);
  return stat(name, &file) ? 0 : (uint64_t)file.st_size;
}

/* Returns the bytes that the files could use on the volume, their sizes plus
 * the free space, or UINT64_MAX if the free space is not known. */
static uint64_t budget_volume(sp_disk_budget *out, const char *path) {
  struct statvfs volume;

  out->free = UINT64_MAX;
  if (statvfs(path, &volume))
    return UINT64_MAX;
  out->free = (uint64_t)volume.f_bavail * volume.f_frsize;
  return out->database + out->log + out->reserve + out->free;
}

void sp_disk_budget_read(sp_disk_budget *out, const char *path,
                         uint64_t max_bytes) {
  uint64_t volume, reserved;

  *out = (sp_disk_budget){.database = sp_disk_bytes(path, ""),
                          .log = sp_disk_bytes(path, "-wal") +
                                 sp_disk_bytes(path, "-shm"),
                          .reserve = sp_disk_bytes(path, ".reserve")};
  volume = budget_volume(out, path);
  out->limit = max_bytes ? max_bytes : UINT64_MAX;
  out->by_volume = volume < out->limit;
  if (out->by_volume)
    out->limit = volume;
  out->log_max = budget_between(out->limit / BUDGET_LOG_PART, BUDGET_LOG_MIN,
                                BUDGET_LOG_MAX);
  out->log_soft_max =
      sp_min_u64(out->log_max / BUDGET_SOFT_PART, BUDGET_SOFT_MAX);
  out->reserve_max = budget_between(out->limit / BUDGET_RESERVE_PART,
                                    BUDGET_RESERVE_MIN, BUDGET_RESERVE_MAX);
  /* The last term is for the growth of the file when the log is copied into it.
   */
  reserved = out->reserve_max + out->log_max + out->log_max / 2;
  out->data_max = out->limit > reserved ? out->limit - reserved : 0;
  out->data_high = out->data_max - out->data_max / BUDGET_HIGH_PART;
}

void sp_disk_reserve_update(const sp_disk_budget *budget, const char *path) {
  uint64_t wanted = budget->reserve_max;
  char name[4096];
  int file;

  if (budget->free < budget->log_soft_max / 2 || !wanted)
    wanted = 0;
  else if (budget->reserve < wanted && budget->free < wanted + budget->log_max)
    wanted = budget->reserve;
  if (wanted == budget->reserve)
    return;
  snprintf(name, sizeof name, "%s.reserve", path);
  file = open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0)
    return;
  if (wanted < budget->reserve || posix_fallocate(file, 0, (off_t)wanted) != 0)
    if (ftruncate(file, wanted < budget->reserve ? (off_t)wanted : 0))
      unlink(name);
  close(file);
}

void sp_disk_reserve_close(sp_disk_budget *budget, const char *path) {
  budget->log_max = budget->log_soft_max = 0;
  if (budget->free < budget->reserve_max)
    budget->reserve_max =
        sp_min_u64(budget->reserve_max, budget->reserve + budget->free);
  sp_disk_reserve_update(budget, path);
}

void sp_disk_reserve_delete(const char *path) {
  sp_disk_budget none = {.reserve = 1};

  sp_disk_reserve_update(&none, path);
}
