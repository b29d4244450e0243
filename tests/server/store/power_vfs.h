/* A SQLite VFS that can lose power. It records the writes to a file since its
 * last sync. A power cut keeps any part of these writes, as a disk may do. */
#ifndef POWER_VFS_H
#define POWER_VFS_H

#include <stdbool.h>
#include <stddef.h>

/* Become SQLite's default VFS, and watch the database at `path` and its log. */
void power_begin(const char *path);

/* Forget the watched files, and restore SQLite's default VFS. */
void power_end(void);

/* Write the files after a power cut to `path` and `path`-wal: everything that
 * was synced, and each unsynced sector of 512 bytes with a chance of `kept` %.
 */
void power_cut(const char *path, unsigned kept, unsigned *random);

/* Number of syncs of watched files. */
unsigned power_syncs(void);

#endif
