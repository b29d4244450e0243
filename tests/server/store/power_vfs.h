/* A VFS of SQLite that simulates power cuts. It records the writes to a file
 * since the last sync of this file. A power cut keeps any part of these writes,
 * as on a real disk. */
#ifndef POWER_VFS_H
#define POWER_VFS_H

#include <stdbool.h>
#include <stddef.h>

/* Make this VFS the default of SQLite, and watch the database at `path` and its
 * log. */
void power_begin(const char *path);

/* Stop watching files, and restore the default VFS of SQLite. */
void power_end(void);

/* Write the database and the log to `path` and `path`-wal as they may be after
 * a power cut. They have everything that was synced, and each unsynced sector
 * of 512 bytes with a chance of `kept` %. */
void power_cut(const char *path, unsigned kept, unsigned *random);

/* Returns the number of syncs of watched files. */
unsigned power_syncs(void);

#endif
