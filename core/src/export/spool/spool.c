#include "spool.h"

#include <dirent.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "util/system/directory.h"
#include "util/system/status.h"

#define SPOOL_SCAN_NS (60 * SP_NS_PER_S)

/* Size that a small file has on common file systems. Each file counts as at
 * least this size, so the size limit also limits the number of files. */
#define SPOOL_BLOCK_BYTES UINT64_C(4096)

/* Maximum number of homes that this process owns: its own and those of dead
 * processes. A home is the directory of one process in the spool
 * (spool_home.h). Further homes wait for a later scan. */
#define SP_SPOOL_HOMES 16

struct sp_spool {
  const sp_mem *mem;
  const sp_clock *clock;
  sp_spool_dropped_fn dropped;
  void *dropped_data;
  char *directory;
  uint64_t max_bytes;
  uint64_t max_age_ns;
  sp_spool_home homes[SP_SPOOL_HOMES]; /* [0]: this process's own home */
  sp_spool_entry *entries;             /* sorted by age, the oldest first */
  size_t count;
  size_t capacity;
  uint64_t bytes; /* total size of the entries */
  /* Size of all other files at the last scan: those of living processes, and of
   * dead processes without a slot in `homes`. */
  uint64_t other_bytes;
  uint64_t scan_ns; /* when to scan again */
  bool more;        /* the last scan found more homes than slots */
};

spanprof_status sp_spool_new(sp_spool **out, const sp_mem *mem,
                             const sp_settings *settings, const sp_clock *clock,
                             sp_spool_dropped_fn dropped, void *dropped_data) {
  sp_spool *spool = sp_mem_zero(mem, sizeof *spool);
  spanprof_status st;
  size_t i;

  *out = NULL;
  if (!spool)
    return SPANPROF_ERR_NOMEM;
  spool->mem = mem;
  spool->clock = clock;
  spool->dropped = dropped;
  spool->dropped_data = dropped_data;
  spool->max_bytes = settings->spool_max_bytes;
  spool->max_age_ns =
      sp_min_u64(settings->spool_max_age_s, UINT64_MAX / SP_NS_PER_S) *
      SP_NS_PER_S;
  for (i = 0; i < SP_SPOOL_HOMES; i++)
    sp_spool_home_init(&spool->homes[i]);
  st = sp_directory_prepare(&spool->directory, mem, "spool_directory",
                            settings->spool_directory);
  if (st) {
    sp_spool_free(spool);
    return st;
  }
  *out = spool;
  return SPANPROF_OK;
}

void sp_spool_free(sp_spool *spool) {
  size_t i;

  if (!spool)
    return;
  for (i = 0; i < SP_SPOOL_HOMES; i++)
    if (spool->homes[i].name[0])
      sp_spool_home_release(&spool->homes[i], spool->mem);
  sp_mem_free(spool->mem, spool->entries);
  sp_mem_free(spool->mem, spool->directory);
  sp_mem_free(spool->mem, spool);
}

/* Remove an entry from the list `entries`. Its file stays. */
static void spool_detach(sp_spool *spool, sp_spool_entry *entry) {
  size_t i = (size_t)(entry - spool->entries);

  entry->home->files--;
  spool->bytes -= entry->bytes;
  memmove(entry, entry + 1, (spool->count - i - 1) * sizeof *entry);
  spool->count--;
}

void sp_spool_remove(sp_spool *spool, sp_spool_entry *entry) {
  sp_spool_home *home = entry->home;
  char name[NAME_MAX + 1];
  int directory;

  sp_spool_file_name(entry->time_ns, name, sizeof name);
  /* If the process has no free descriptor, the file stays, and the next process
   * sends it again, which does no harm (spool.h). */
  if (!sp_spool_home_open(&directory, home)) {
    unlinkat(directory, name, 0);
    close(directory);
  }
  spool_detach(spool, entry);
  if (home->files > 0 || home->own)
    return;
  sp_spool_home_release(home, spool->mem);
  if (spool->more)
    spool->scan_ns = 0;
}

static void spool_drop(sp_spool *spool, sp_spool_entry *entry,
                       const char *why) {
  sp_spool_entry dropped = *entry;

  sp_spool_remove(spool, entry);
  dropped.home = NULL;
  spool->dropped(spool->dropped_data, &dropped, why);
}

static const char spool_missing_text[] = "the file is damaged or missing";

static void spool_abandon_home(sp_spool *spool, sp_spool_home *home) {
  size_t i = spool->count;

  while (i-- > 0) {
    sp_spool_entry dropped = spool->entries[i];

    if (dropped.home != home)
      continue;
    spool_detach(spool, &spool->entries[i]);
    dropped.home = NULL;
    spool->dropped(spool->dropped_data, &dropped, spool_missing_text);
  }
  sp_spool_home_abandon(home, spool->mem);
}

/* Drop the entries of homes that this process has lost, because another program
 * has removed the home or its lock file, or another process has locked the home
 * after that. */
static void spool_verify_homes(sp_spool *spool) {
  size_t i;

  for (i = 0; i < SP_SPOOL_HOMES; i++)
    if (spool->homes[i].name[0] && !sp_spool_home_verify(&spool->homes[i]))
      spool_abandon_home(spool, &spool->homes[i]);
}

static void spool_drop_old(sp_spool *spool) {
  uint64_t now_ns = sp_clock_monotonic_ns(spool->clock);
  size_t i = spool->count;

  while (i-- > 0)
    if (now_ns - spool->entries[i].tries.began_ns > spool->max_age_ns)
      spool_drop(spool, &spool->entries[i], "it is older than spool_max_age_s");
}

static spanprof_status spool_free_bytes(sp_spool *spool, uint64_t bytes) {
  const uint64_t others_bytes = spool->other_bytes + bytes;

  /* Even without files of this process, the spool would be full. */
  if (others_bytes > spool->max_bytes)
    return SPANPROF_ERR_LIMIT;
  while (spool->bytes + others_bytes > spool->max_bytes)
    spool_drop(spool, &spool->entries[0], "spool_max_bytes is reached");
  return SPANPROF_OK;
}

static uint64_t spool_disk_bytes(uint64_t size) {
  return (size / SPOOL_BLOCK_BYTES + 1) * SPOOL_BLOCK_BYTES;
}

static spanprof_status spool_reserve(sp_spool *spool, size_t more) {
  return sp_mem_reserve(spool->mem, (void **)&spool->entries, &spool->capacity,
                        spool->count + more, sizeof *spool->entries);
}

static void spool_insert(sp_spool *spool, const sp_spool_entry *entry) {
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

/* Open the spool, or the home `name` in it, in order to list its files. Returns
 * SPANPROF_ERR_IO and sets the last error if it cannot be opened. */
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

/* Return the monotonic time from which the age of another process's profile is
 * counted (spool.h). */
static uint64_t spool_began(const sp_spool *spool, uint64_t time_ns) {
  uint64_t unix_ns = sp_clock_unix_ns(spool->clock);
  uint64_t age_ns = unix_ns > time_ns ? unix_ns - time_ns : 0;

  return sp_clock_monotonic_ns(spool->clock) -
         sp_min_u64(age_ns, spool->max_age_ns / 2);
}

/* Read the files of the home `name`. If this process has locked the home, its
 * files become entries, and unfinished files are removed. If `home` is NULL,
 * the files are only counted in other_bytes. */
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

    if (!sp_spool_file_inspect(dirfd(directory), found->d_name, &entry.time_ns,
                               &size, &temporary))
      continue;
    entry.tries.began_ns = spool_began(spool, entry.time_ns);
    entry.bytes = spool_disk_bytes(size);
    *bytes += entry.bytes;
    if (home && temporary)
      unlinkat(dirfd(directory), found->d_name, 0);
    if (!home || temporary)
      continue;
    st = spool_reserve(spool, 1);
    if (!st)
      spool_insert(spool, &entry);
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

static bool spool_has_home(const sp_spool *spool, const char *name) {
  size_t i;

  for (i = 0; i < SP_SPOOL_HOMES; i++)
    if (strcmp(spool->homes[i].name, name) == 0)
      return true;
  return false;
}

/* Take over the home `name` if its process is dead. Returns SPANPROF_ERR_IO and
 * sets the last error if the home is not trusted or cannot be read. */
static spanprof_status spool_visit(sp_spool *spool, const char *name) {
  sp_spool_home *home = spool_free_home(spool);
  uint64_t claimed_bytes = 0;
  spanprof_status st;

  if (!home) {
    spool->more = true;
    return spool_read_home(spool, NULL, name, &spool->other_bytes);
  }
  st = sp_spool_home_claim(home, spool->mem, spool->directory, name,
                           sp_clock_unix_ns(spool->clock));
  if (st == SPANPROF_ERR_STATE)
    return spool_read_home(spool, NULL, name, &spool->other_bytes);
  if (st)
    return st;
  st = spool_read_home(spool, home, name, &claimed_bytes);
  if (home->files == 0)
    sp_spool_home_release(home, spool->mem);
  return st;
}

static spanprof_status spool_scan(sp_spool *spool) {
  spanprof_status st, worst = SPANPROF_OK;
  struct dirent *found;
  DIR *directory;

  st = spool_list(spool, NULL, &directory);
  if (st)
    return st;
  spool->other_bytes = 0;
  spool->more = false;
  while ((found = readdir(directory)) != NULL) {
    if (!sp_spool_home_is_name(found->d_name) ||
        spool_has_home(spool, found->d_name))
      continue;
    st = spool_visit(spool, found->d_name);
    worst = st ? st : worst;
  }
  closedir(directory);
  return worst;
}

spanprof_status sp_spool_claim(sp_spool *spool) {
  uint64_t now_ns = sp_clock_monotonic_ns(spool->clock);
  spanprof_status st;

  if (now_ns < spool->scan_ns)
    return SPANPROF_OK;
  spool->scan_ns = now_ns + SPOOL_SCAN_NS;
  spool_verify_homes(spool);
  st = spool_scan(spool);
  spool_drop_old(spool);
  return st;
}

uint64_t sp_spool_claim_ns(const sp_spool *spool) {
  return spool->scan_ns;
}

static spanprof_status spool_write(const sp_spool_home *home,
                                   const sp_encoded *part,
                                   const sp_series *series) {
  char name[NAME_MAX + 1];
  int directory;
  spanprof_status st = sp_spool_home_open(&directory, home);

  if (st)
    return st;
  sp_spool_file_name(part->time_ns, name, sizeof name);
  st = sp_spool_file_write(directory, home->path, name, part, series);
  close(directory);
  return st;
}

spanprof_status sp_spool_put(sp_spool *spool, const sp_upload *upload,
                             const sp_series *series) {
  const sp_encoded *part = &upload->part;
  sp_spool_entry entry = {.time_ns = part->time_ns,
                          .samples = part->samples,
                          .ticks = part->ticks,
                          .tries = {.began_ns = upload->tries.began_ns,
                                    .refusals = upload->tries.refusals,
                                    .attempted = upload->tries.attempted},
                          .own = true,
                          .delivered = upload->delivered,
                          .home = &spool->homes[0]};
  spanprof_status st;

  spool_verify_homes(spool);
  entry.bytes = spool_disk_bytes(part->size + series->size);
  st = spool_free_bytes(spool, entry.bytes);
  if (!st)
    st = spool_reserve(spool, 1);
  if (!st && !entry.home->name[0])
    st = sp_spool_home_create(entry.home, spool->mem, spool->directory,
                              sp_clock_unix_ns(spool->clock));
  if (!st)
    st = spool_write(entry.home, part, series);
  if (!st)
    spool_insert(spool, &entry);
  return st;
}

sp_spool_entry *sp_spool_next(sp_spool *spool, uint64_t now_ns) {
  size_t i;

  spool_drop_old(spool);
  for (i = 0; i < spool->count; i++)
    if (spool->entries[i].tries.retry_ns <= now_ns)
      return &spool->entries[i];
  return NULL;
}

uint64_t sp_spool_next_ns(const sp_spool *spool) {
  uint64_t next_ns = UINT64_MAX;
  size_t i;

  for (i = 0; i < spool->count; i++)
    next_ns = sp_min_u64(next_ns, spool->entries[i].tries.retry_ns);
  return next_ns;
}

spanprof_status sp_spool_read(sp_spool *spool, sp_spool_entry *entry,
                              sp_spool_file *out) {
  char name[NAME_MAX + 1];
  spanprof_status st;
  int directory;

  memset(out, 0, sizeof *out);
  st = sp_spool_home_open(&directory, entry->home);
  if (!st) {
    sp_spool_file_name(entry->time_ns, name, sizeof name);
    st = sp_spool_file_read(out, spool->mem, directory, name);
    close(directory);
  } else if (sp_spool_home_is_missing(entry->home)) {
    st = SPANPROF_ERR_FORMAT;
  }
  if (st == SPANPROF_ERR_FORMAT)
    spool_drop(spool, entry, spool_missing_text);
  return st;
}

void sp_spool_each_own(const sp_spool *spool,
                       void (*visit)(void *data, const sp_spool_entry *entry),
                       void *data) {
  size_t i;

  for (i = 0; i < spool->count; i++)
    if (spool->entries[i].own)
      visit(data, &spool->entries[i]);
}

void sp_spool_after_fork_child(sp_spool *spool) {
  size_t i;

  for (i = 0; i < SP_SPOOL_HOMES; i++) {
    sp_spool_home_after_fork_child(&spool->homes[i]);
    sp_spool_home_init(&spool->homes[i]);
  }
  spool->entries = NULL;
  spool->count = 0;
  spool->capacity = 0;
  spool->bytes = 0;
  spool->other_bytes = 0;
  spool->scan_ns = 0;
}
