/* The modules of the process and their places in memory. */
#ifndef SP_MODULE_LIST_H
#define SP_MODULE_LIST_H

#include "module.h"
#include "unwind/elf/module_scan.h"

/* A module's place in memory at run time. */
typedef struct sp_mapping {
  uint64_t start; /* of all segments */
  uint64_t limit;
  uint64_t code_start; /* of the executable segments */
  uint64_t code_limit;
  uint64_t bias;   /* run-time address - ELF virtual address */
  uint32_t module; /* number in the list, from 1 */
  uint8_t grace;   /* remaining ages after unloading; 0: loaded */
  bool seen;       /* found by the current refresh */
} sp_mapping;

/* The directory of separate debug files of debuggers and distributions'
 * packages. */
#define SP_MODULE_DEBUG_DIRECTORY "/usr/lib/debug"

typedef struct sp_module_list {
  const sp_mem *mem;
  const char *debug_directory; /* differs only in tests */
  sp_module_entry **modules;   /* sorted by number */
  size_t module_count;
  size_t module_capacity;
  sp_mapping *mappings; /* sorted by start; without overlaps */
  size_t mapping_count;
  size_t mapping_capacity;
  uint32_t last_number;     /* last number given to a module; never reused */
  uint64_t generation;      /* changes whenever `mappings` changes */
  sp_module_scan last_scan; /* its counts only */
} sp_module_list;

void sp_module_list_init(sp_module_list *list, const sp_mem *mem);
void sp_module_list_dispose(sp_module_list *list);

/* Update the list after loads and unloads. An unloaded module is still found
 * until the second sp_module_list_age() from now, for samples taken before the
 * unloading, unless another module was loaded at its place. SPANPROF_ERR_NOMEM:
 * partly updated; the next call tries again. */
spanprof_status sp_module_list_refresh(sp_module_list *list);
void sp_module_list_age(sp_module_list *list);

/* Free the modules that are no longer found, and close the files of the others.
 * Returns true if sp_module_entry_close_files() returned true for any of them.
 */
bool sp_module_list_close_files(sp_module_list *list);

/* The mapping that contains an address, or NULL. Valid until the next
 * refresh. */
const sp_mapping *sp_module_list_find(const sp_module_list *list,
                                      uint64_t address);

/* Returns NULL if there is no such module. */
sp_module_entry *sp_module_list_get(const sp_module_list *list,
                                    uint32_t module);

#endif
