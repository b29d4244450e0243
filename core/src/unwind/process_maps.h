/* The process's own memory map, /proc/self/maps. */
#ifndef SP_PROCESS_MAPS_H
#define SP_PROCESS_MAPS_H

#include "../util/base.h"

/* The file mapped at a run-time address: its path in `path`, which holds `size`
 * bytes (too long a one is cut), and whether it was deleted or replaced by
 * another of its name. False: nothing is mapped there, or the map cannot be
 * read. */
bool sp_process_maps_file(uint64_t address, char *path, size_t size,
                          bool *deleted);

#endif
