/* A SQLite VFS that can lose power: it knows what was written to a file since
 * its last sync, and gives what a disk may hold after a cut at this instant,
 * any part of that. */
#ifndef POWER_VFS_H
#define POWER_VFS_H

#include <stdbool.h>
#include <stddef.h>

/* Become SQLite's default, and watch the database at `path` with its log. */
void power_begin(const char *path);

/* Forget what was watched; SQLite has its own default again. */
void power_end(void);

/* Write what is left after a cut to `path` and `path`-wal: all that was synced,
 * and of the rest each 512 bytes with a chance of `kept` of 100. */
void power_cut(const char *path, unsigned kept, unsigned *random);

/* How often a watched file was synced. */
unsigned power_syncs(void);

#endif
