#include "power_vfs.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The size of a sector, which a disk writes completely or not at all. */
#define POWER_SECTOR_BYTES 512

/* A write or truncation that was not followed by a sync. */
typedef struct power_change {
  struct power_change *next;
  size_t at; /* offset of the write, or the new size for a truncation */
  size_t size;
  bool truncates;
  char bytes[];
} power_change;

/* A watched file: the bytes that were synced, and the later changes, which may
 * be on the disk. */
typedef struct power_image {
  char *bytes;
  size_t size, room;
  power_change *first, **last;
} power_image;

enum { POWER_DATABASE, POWER_LOG, POWER_FILES };

static struct {
  sqlite3_vfs vfs;
  sqlite3_vfs *real;
  sqlite3_io_methods methods;
  char path[256];
  /* Guarded by `lock`. */
  pthread_mutex_t lock;
  power_image images[POWER_FILES];
  unsigned syncs;
} power = {.lock = PTHREAD_MUTEX_INITIALIZER};

typedef struct power_file {
  sqlite3_file base;
  power_image *image; /* NULL if the file is not watched */
  sqlite3_file *real; /* the file of the original VFS; follows this struct */
} power_file;

static void *power_memory(void *p) {
  if (!p)
    abort();
  return p;
}

static void power_resize(power_image *image, size_t size) {
  if (size > image->room) {
    image->room = size * 2;
    image->bytes = power_memory(realloc(image->bytes, image->room));
  }
  if (size > image->size)
    memset(image->bytes + image->size, 0, size - image->size);
  image->size = size;
}

static void power_write_to(power_image *image, size_t at, const char *bytes,
                           size_t size) {
  if (at + size > image->size)
    power_resize(image, at + size);
  memcpy(image->bytes + at, bytes, size);
}

static void power_apply(power_image *image, const power_change *change) {
  if (!change->truncates)
    power_write_to(image, change->at, change->bytes, change->size);
  else if (change->at < image->size)
    image->size = change->at;
}

static void power_add(power_image *image, size_t at, const void *bytes,
                      size_t size, bool truncates) {
  power_change *change = power_memory(malloc(sizeof *change + size));

  *change = (power_change){.at = at, .size = size, .truncates = truncates};
  if (size)
    memcpy(change->bytes, bytes, size);
  pthread_mutex_lock(&power.lock);
  *image->last = change;
  image->last = &change->next;
  pthread_mutex_unlock(&power.lock);
}

/* Apply the pending changes to the image, or discard them. The caller holds
 * power.lock. */
static void power_apply_pending(power_image *image, bool apply) {
  power_change *change;

  while ((change = image->first)) {
    if (apply)
      power_apply(image, change);
    image->first = change->next;
    free(change);
  }
  image->last = &image->first;
}

/* ---- Methods of files ---- */

static sqlite3_file *power_real(sqlite3_file *file) {
  return ((power_file *)file)->real;
}

static int power_close(sqlite3_file *file) {
  return power_real(file)->pMethods->xClose(power_real(file));
}

static int power_read(sqlite3_file *file, void *to, int size,
                      sqlite3_int64 at) {
  return power_real(file)->pMethods->xRead(power_real(file), to, size, at);
}

/* Record the written bytes in `image` before the write itself, so that a
 * concurrent sync that covers the bytes also covers their record. */
static int power_write(sqlite3_file *file, const void *bytes, int size,
                       sqlite3_int64 at) {
  power_image *image = ((power_file *)file)->image;

  if (image)
    power_add(image, (size_t)at, bytes, (size_t)size, false);
  return power_real(file)->pMethods->xWrite(power_real(file), bytes, size, at);
}

static int power_truncate(sqlite3_file *file, sqlite3_int64 size) {
  power_image *image = ((power_file *)file)->image;

  if (image)
    power_add(image, (size_t)size, NULL, 0, true);
  return power_real(file)->pMethods->xTruncate(power_real(file), size);
}

static int power_sync(sqlite3_file *file, int flags) {
  power_image *image = ((power_file *)file)->image;

  if (!image)
    return power_real(file)->pMethods->xSync(power_real(file), flags);
  pthread_mutex_lock(&power.lock);
  power_apply_pending(image, true);
  power.syncs++;
  pthread_mutex_unlock(&power.lock);
  return SQLITE_OK;
}

static int power_size(sqlite3_file *file, sqlite3_int64 *size) {
  return power_real(file)->pMethods->xFileSize(power_real(file), size);
}

static int power_lock(sqlite3_file *file, int lock) {
  return power_real(file)->pMethods->xLock(power_real(file), lock);
}

static int power_unlock(sqlite3_file *file, int lock) {
  return power_real(file)->pMethods->xUnlock(power_real(file), lock);
}

static int power_check_lock(sqlite3_file *file, int *out) {
  return power_real(file)->pMethods->xCheckReservedLock(power_real(file), out);
}

static int power_control(sqlite3_file *file, int what, void *argument) {
  return power_real(file)->pMethods->xFileControl(power_real(file), what,
                                                  argument);
}

static int power_sector(sqlite3_file *file) {
  (void)file;
  return POWER_SECTOR_BYTES;
}

static int power_traits(sqlite3_file *file) {
  return power_real(file)->pMethods->xDeviceCharacteristics(power_real(file));
}

static int power_shm_map(sqlite3_file *file, int page, int size, int extend,
                         void volatile **out) {
  return power_real(file)->pMethods->xShmMap(power_real(file), page, size,
                                             extend, out);
}

static int power_shm_lock(sqlite3_file *file, int at, int count, int flags) {
  return power_real(file)->pMethods->xShmLock(power_real(file), at, count,
                                              flags);
}

static void power_shm_barrier(sqlite3_file *file) {
  power_real(file)->pMethods->xShmBarrier(power_real(file));
}

static int power_shm_unmap(sqlite3_file *file, int remove) {
  return power_real(file)->pMethods->xShmUnmap(power_real(file), remove);
}

static power_image *power_image_of(const char *name) {
  const size_t size = strlen(power.path);

  if (!name || strncmp(name, power.path, size) != 0)
    return NULL;
  if (!name[size])
    return &power.images[POWER_DATABASE];
  return strcmp(name + size, "-wal") == 0 ? &power.images[POWER_LOG] : NULL;
}

static int power_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file,
                      int flags, int *out_flags) {
  power_file *made = (power_file *)file;
  int code;

  (void)vfs;
  made->base.pMethods = NULL;
  made->real = (sqlite3_file *)(made + 1);
  made->image = power_image_of(name);
  code = power.real->xOpen(power.real, name, made->real, flags, out_flags);
  if (code == SQLITE_OK)
    made->base.pMethods = &power.methods;
  return code;
}

/* ---- Functions for tests ---- */

void power_begin(const char *path) {
  size_t i;

  snprintf(power.path, sizeof power.path, "%s", path);
  for (i = 0; i < POWER_FILES; i++)
    power.images[i] = (power_image){.last = &power.images[i].first};
  power.syncs = 0;
  power.real = sqlite3_vfs_find(NULL);
  power.methods = (sqlite3_io_methods){.iVersion = 2,
                                       .xClose = power_close,
                                       .xRead = power_read,
                                       .xWrite = power_write,
                                       .xTruncate = power_truncate,
                                       .xSync = power_sync,
                                       .xFileSize = power_size,
                                       .xLock = power_lock,
                                       .xUnlock = power_unlock,
                                       .xCheckReservedLock = power_check_lock,
                                       .xFileControl = power_control,
                                       .xSectorSize = power_sector,
                                       .xDeviceCharacteristics = power_traits,
                                       .xShmMap = power_shm_map,
                                       .xShmLock = power_shm_lock,
                                       .xShmBarrier = power_shm_barrier,
                                       .xShmUnmap = power_shm_unmap};
  power.vfs = *power.real;
  power.vfs.pNext = NULL;
  power.vfs.zName = "power";
  power.vfs.szOsFile = (int)sizeof(power_file) + power.real->szOsFile;
  power.vfs.xOpen = power_open;
  sqlite3_vfs_register(&power.vfs, 1);
}

void power_end(void) {
  size_t i;

  sqlite3_vfs_unregister(&power.vfs);
  sqlite3_vfs_register(power.real, 1);
  for (i = 0; i < POWER_FILES; i++) {
    power_apply_pending(&power.images[i], false);
    free(power.images[i].bytes);
    power.images[i].bytes = NULL;
  }
}

unsigned power_syncs(void) {
  unsigned syncs;

  pthread_mutex_lock(&power.lock);
  syncs = power.syncs;
  pthread_mutex_unlock(&power.lock);
  return syncs;
}

static bool power_keeps(unsigned kept, unsigned *random) {
  *random = *random * 1664525u + 1013904223u;
  return (*random >> 16) % 100 < kept;
}

/* Return a content that the disk may have after a power cut. The caller holds
 * power.lock. */
static power_image power_left(const power_image *of, unsigned kept,
                              unsigned *random) {
  power_image left = {0};
  const power_change *change;
  size_t at, size;

  power_write_to(&left, 0, of->bytes ? of->bytes : "", of->size);
  for (change = of->first; change; change = change->next) {
    if (change->truncates && power_keeps(kept, random))
      power_apply(&left, change);
    for (at = 0; at < change->size; at += size) {
      size = POWER_SECTOR_BYTES - (change->at + at) % POWER_SECTOR_BYTES;
      if (size > change->size - at)
        size = change->size - at;
      if (power_keeps(kept, random))
        power_write_to(&left, change->at + at, change->bytes + at, size);
    }
  }
  return left;
}

static void power_save(power_image *image, const char *path) {
  FILE *file = power_memory(fopen(path, "wb"));

  if (fwrite(image->bytes ? image->bytes : "", 1, image->size, file) !=
          image->size ||
      fclose(file))
    abort();
  free(image->bytes);
}

void power_cut(const char *path, unsigned kept, unsigned *random) {
  power_image left[POWER_FILES];
  char name[300];
  size_t i;

  pthread_mutex_lock(&power.lock);
  for (i = 0; i < POWER_FILES; i++)
    left[i] = power_left(&power.images[i], kept, random);
  pthread_mutex_unlock(&power.lock);
  for (i = 0; i < POWER_FILES; i++) {
    snprintf(name, sizeof name, "%s%s", path, i ? "-wal" : "");
    power_save(&left[i], name);
  }
}
