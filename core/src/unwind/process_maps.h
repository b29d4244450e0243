/* The process's own memory map, /proc/self/maps. */
#ifndef SP_PROCESS_MAPS_H
#define SP_PROCESS_MAPS_H

#include "../util/base.h"

/* Whether the file mapped at a run-time address was deleted or replaced by
 * another of its name. Also true where nothing is mapped there or the map
 * cannot be read: nothing is known of the file then. */
bool sp_process_maps_deleted(uint64_t address);

#endif
