#include "spool.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "spool_scan.h"
#include "util/system/directory.h"

#define SPOOL_SCAN_NS (60 * SP_NS_PER_S)

spanprof_status sp_spool_new(sp_spool **out, const sp_mem *mem,
                             const sp_settings *settings, const sp_clock *clock,
                             sp_spool_lost_fn lost, void *lost_data) {
  sp_spool *spool = sp_mem_zero(mem, sizeof *spool);
  spanprof_status st;
  size_t i;

  *out = NULL;
  if (!spool)
    return SPANPROF_ERR_NOMEM;
  spool->mem = mem;
  spool->clock = clock;
  spool->lost = lost;
  spool->lost_data = lost_data;
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

/* Take an entry out of the list; its file stays. */
static void spool_take_out(sp_spool *spool, sp_spool_entry *entry) {
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
  /* One that stays because no descriptor is left is sent again by the next
   * process, which does no harm (spool.h). */
  if (!sp_spool_home_open(&directory, home)) {
    unlinkat(directory, name, 0);
    close(directory);
  }
  spool_take_out(spool, entry);
  if (home->files > 0 || home->own)
    return;
  sp_spool_home_release(home, spool->mem);
  if (spool->more)
    spool->scan_ns = 0;
}

static void spool_lose(sp_spool *spool, sp_spool_entry *entry,
                       const char *why) {
  sp_spool_entry lost = *entry;

  sp_spool_remove(spool, entry);
  lost.home = NULL;
  spool->lost(spool->lost_data, &lost, why);
}

static const char spool_gone[] = "the file is damaged or gone";

static void spool_forget_home(sp_spool *spool, sp_spool_home *home) {
  size_t i = spool->count;

  while (i-- > 0) {
    sp_spool_entry lost = spool->entries[i];

    if (lost.home != home)
      continue;
    spool_take_out(spool, &spool->entries[i]);
    lost.home = NULL;
    spool->lost(spool->lost_data, &lost, spool_gone);
  }
  sp_spool_home_forget(home, spool->mem);
}

/* Someone may have removed a home, or its lock, and then another process may
 * have taken it: what was in it is lost to us. */
static void spool_keep_homes(sp_spool *spool) {
  size_t i;

  for (i = 0; i < SP_SPOOL_HOMES; i++)
    if (spool->homes[i].name[0] && !sp_spool_home_keep(&spool->homes[i]))
      spool_forget_home(spool, &spool->homes[i]);
}

static void spool_drop_old(sp_spool *spool) {
  uint64_t now_ns = sp_clock_monotonic_ns(spool->clock);
  size_t i = spool->count;

  while (i-- > 0)
    if (now_ns - spool->entries[i].tries.began_ns > spool->max_age_ns)
      spool_lose(spool, &spool->entries[i], "too old");
}

static spanprof_status spool_make_room(sp_spool *spool, uint64_t bytes) {
  const uint64_t others_bytes = spool->foreign_bytes + bytes;

  /* Then what we hold would be dropped in vain. */
  if (others_bytes > spool->max_bytes)
    return SPANPROF_ERR_LIMIT;
  while (spool->bytes + others_bytes > spool->max_bytes)
    spool_lose(spool, &spool->entries[0], "the spool is full");
  return SPANPROF_OK;
}

spanprof_status sp_spool_claim(sp_spool *spool) {
  uint64_t now_ns = sp_clock_monotonic_ns(spool->clock);
  spanprof_status st;

  if (now_ns < spool->scan_ns)
    return SPANPROF_OK;
  spool->scan_ns = now_ns + SPOOL_SCAN_NS;
  spool_keep_homes(spool);
  st = sp_spool_scan(spool);
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
                          .taken = upload->taken,
                          .home = &spool->homes[0]};
  spanprof_status st;

  spool_keep_homes(spool);
  entry.bytes = sp_spool_disk_bytes(part->size + series->size);
  st = spool_make_room(spool, entry.bytes);
  if (!st)
    st = sp_spool_reserve(spool, 1);
  if (!st && !entry.home->name[0])
    st = sp_spool_home_create(entry.home, spool->mem, spool->directory,
                              sp_clock_unix_ns(spool->clock));
  if (!st)
    st = spool_write(entry.home, part, series);
  if (!st)
    sp_spool_insert(spool, &entry);
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
  } else if (sp_spool_home_gone(entry->home)) {
    st = SPANPROF_ERR_FORMAT;
  }
  if (st == SPANPROF_ERR_FORMAT)
    spool_lose(spool, entry, spool_gone);
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
  spool->foreign_bytes = 0;
  spool->scan_ns = 0;
}
