/* The process's own memory map, /proc/self/maps. */
#ifndef SP_PROCESS_MAPS_H
#define SP_PROCESS_MAPS_H

#include "util/base.h"

typedef struct sp_process_mapping {
  uint64_t start;
  uint64_t limit;
  bool readable;
  bool executable;
  bool deleted;     /* its file, or that was replaced by another of its name */
  const char *path; /* of a file, or a name such as "[stack]"; "": neither */
} sp_process_mapping;

/* True: enough. */
typedef bool (*sp_process_maps_fn)(void *data,
                                   const sp_process_mapping *mapping);

/* Call `visit` for every mapping, by ascending address, until it says enough.
 * `path` holds `size` bytes of a mapping's path (too long a one is cut).
 * False: it never said so, or the map cannot be read. */
bool sp_process_maps_each(char *path, size_t size, sp_process_maps_fn visit,
                          void *data);

/* The file mapped at a run-time address: its path in `path`, which holds `size`
 * bytes (too long a one is cut), and whether it was deleted or replaced by
 * another of its name. False: nothing is mapped there, or the map cannot be
 * read. */
bool sp_process_maps_file(uint64_t address, char *path, size_t size,
                          bool *deleted);

#endif
