/* Reads the process's own memory map, /proc/self/maps. */
#ifndef SP_PROCESS_MAPS_H
#define SP_PROCESS_MAPS_H

#include "util/base.h"

typedef struct sp_process_mapping {
  uint64_t start;
  uint64_t limit;
  bool readable;
  bool executable;
  bool deleted;     /* the mapping's file was deleted or replaced */
  const char *path; /* path of a file, a name such as "[stack]", or "" */
} sp_process_mapping;

/* A function that returns true to stop the iteration. */
typedef bool (*sp_process_maps_fn)(void *data,
                                   const sp_process_mapping *mapping);

/* Call `visit` for every mapping, in ascending order, until it returns true.
 * `path` is a buffer of `size` bytes for the mapping's path; a longer path is
 * truncated. Returns true if `visit` returned true, and false if it never did
 * or the map cannot be read. */
bool sp_process_maps_each(char *path, size_t size, sp_process_maps_fn visit,
                          void *data);

/* Find the file that is mapped at a run-time address. `path` has `size` bytes;
 * a longer path is truncated. *deleted is set if the file was deleted or
 * replaced. Returns false if nothing is mapped there or the map cannot be
 * read. */
bool sp_process_maps_file(uint64_t address, char *path, size_t size,
                          bool *deleted);

#endif
