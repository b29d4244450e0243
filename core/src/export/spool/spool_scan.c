#include "spool_scan.h"

#include <dirent.h>
#include <string.h>
#include <unistd.h>

#include "util/system/directory.h"
#include "util/system/status.h"

/* What a file takes at least, as common file systems count; bounds the number
 * of files, too. */
#define SPOOL_BLOCK_BYTES UINT64_C(4096)

uint64_t sp_spool_disk_bytes(uint64_t size) {
  return (size / SPOOL_BLOCK_BYTES + 1) * SPOOL_BLOCK_BYTES;
}

spanprof_status sp_spool_reserve(sp_spool *spool, size_t more) {
  return sp_mem_reserve(spool->mem, (void **)&spool->entries, &spool->capacity,
                        spool->count + more, sizeof *spool->entries);
}

void sp_spool_insert(sp_spool *spool, const sp_spool_entry *entry) {
  size_t i = spool->count;

  while (i > 0 && spool->entries[i - 1].time_ns > entry->time_ns)
    i--;
  memmove(&spool->entries[i + 1], &spool->entries[i],
          (spool->count - i) * sizeof *entry);
  spool->entries[i] = *entry;
  spool->count++;
  spool->bytes += entry->bytes;
  entry->home->files++;
}

/* Open the spool, or the home called `name` in it, to be listed.
 * SPANPROF_ERR_IO, in a sentence. */
static spanprof_status spool_list(const sp_spool *spool, const char *name,
                                  DIR **out) {
  int fd;
  spanprof_status st = sp_directory_open(&fd, spool->directory, name);

  *out = st ? NULL : fdopendir(fd);
  if (st || *out)
    return st;
  close(fd);
  return sp_fail(SPANPROF_ERR_IO, "spool_directory %s cannot be read",
                 spool->directory);
}

/* When one that another process left began (spool.h). */
static uint64_t spool_began(const sp_spool *spool, uint64_t time_ns) {
  uint64_t unix_ns = sp_clock_unix_ns(spool->clock);
  uint64_t age_ns = unix_ns > time_ns ? unix_ns - time_ns : 0;

  return sp_clock_monotonic_ns(spool->clock) -
         sp_min_u64(age_ns, spool->max_age_ns / 2);
}

/* The files of the home called `name`. Where it is locked by us they become
 * entries and what a crash left half-written is removed; else (`home` NULL)
 * they are only counted. */
static spanprof_status spool_read_home(sp_spool *spool, sp_spool_home *home,
                                       const char *name, uint64_t *bytes) {
  spanprof_status st = SPANPROF_OK;
  struct dirent *found;
  bool temporary;
  uint64_t size;
  DIR *directory;

  st = spool_list(spool, name, &directory);
  if (st)
    return st;
  while (!st && (found = readdir(directory)) != NULL) {
    sp_spool_entry entry = {.home = home};

    if (!sp_spool_file_look(dirfd(directory), found->d_name, &entry.time_ns,
                            &size, &temporary))
      continue;
    entry.tries.began_ns = spool_began(spool, entry.time_ns);
    entry.bytes = sp_spool_disk_bytes(size);
    *bytes += entry.bytes;
    if (home && temporary)
      unlinkat(dirfd(directory), found->d_name, 0);
    if (!home || temporary)
      continue;
    st = sp_spool_reserve(spool, 1);
    if (!st)
      sp_spool_insert(spool, &entry);
  }
  closedir(directory);
  return st;
}

static sp_spool_home *spool_free_home(sp_spool *spool) {
  size_t i;

  for (i = 1; i < SP_SPOOL_HOMES; i++)
    if (!spool->homes[i].name[0])
      return &spool->homes[i];
  return NULL;
}

static bool spool_holds(const sp_spool *spool, const char *name) {
  size_t i;

  for (i = 0; i < SP_SPOOL_HOMES; i++)
    if (strcmp(spool->homes[i].name, name) == 0)
      return true;
  return false;
}

/* Take over a home if its process is dead. SPANPROF_ERR_IO, in a sentence: it
 * is not to be trusted, or cannot be read. */
static spanprof_status spool_visit(sp_spool *spool, const char *name) {
  sp_spool_home *home = spool_free_home(spool);
  uint64_t claimed_bytes = 0;
  spanprof_status st;

  if (!home) {
    spool->more = true;
    return spool_read_home(spool, NULL, name, &spool->foreign_bytes);
  }
  st = sp_spool_home_claim(home, spool->mem, spool->directory, name,
                           sp_clock_unix_ns(spool->clock));
  if (st == SPANPROF_ERR_STATE)
    return spool_read_home(spool, NULL, name, &spool->foreign_bytes);
  if (st)
    return st;
  st = spool_read_home(spool, home, name, &claimed_bytes);
  if (home->files == 0)
    sp_spool_home_release(home, spool->mem);
  return st;
}

spanprof_status sp_spool_scan(sp_spool *spool) {
  spanprof_status st, worst = SPANPROF_OK;
  struct dirent *found;
  DIR *directory;

  st = spool_list(spool, NULL, &directory);
  if (st)
    return st;
  spool->foreign_bytes = 0;
  spool->more = false;
  while ((found = readdir(directory)) != NULL) {
    if (!sp_spool_home_named(found->d_name) ||
        spool_holds(spool, found->d_name))
      continue;
    st = spool_visit(spool, found->d_name);
    worst = st ? st : worst;
  }
  closedir(directory);
  return worst;
}
