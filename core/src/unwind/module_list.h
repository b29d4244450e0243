/* The modules of the process and their addresses in memory. */
#ifndef SP_MODULE_LIST_H
#define SP_MODULE_LIST_H

#include "module.h"
#include "unwind/elf/module_scan.h"

/* The addresses at which a module is loaded. */
typedef struct sp_mapping {
  uint64_t start; /* address of the lowest segment */
  uint64_t limit;
  uint64_t code_start; /* address of the lowest executable segment */
  uint64_t code_limit;
  uint64_t bias;   /* run-time address - ELF virtual address */
  uint32_t module; /* number of the module in the list, from 1 */
  /* Number of further calls of sp_module_list_age() for which the unloaded
   * mapping is kept; 0: the mapping is loaded. */
  uint8_t grace;
  bool seen; /* the current refresh has found the mapping */
} sp_mapping;

/* Where debuggers and the packages of distributions place separate debug
 * files. */
#define SP_MODULE_DEBUG_DIRECTORY "/usr/lib/debug"

typedef struct sp_module_list {
  const sp_mem *mem;
  const char *debug_directory; /* SP_MODULE_DEBUG_DIRECTORY, except in tests */
  sp_module_entry **modules;   /* sorted by number */
  size_t module_count;
  size_t module_capacity;
  sp_mapping *mappings; /* sorted by start; without overlaps */
  size_t mapping_count;
  size_t mapping_capacity;
  uint32_t last_number; /* last number given to a module; never reused */
  uint64_t generation;  /* changes whenever `mappings` changes */
  /* The last scan, of which only the counts are kept. */
  sp_module_scan last_scan;
} sp_module_list;

void sp_module_list_init(sp_module_list *list, const sp_mem *mem);
void sp_module_list_dispose(sp_module_list *list);

/* Update the list after modules were loaded or unloaded. Samples taken before
 * an unloading may still need the module. So an unloaded module is found until
 * the second sp_module_list_age() from now, unless another module was loaded at
 * its addresses. If it returns SPANPROF_ERR_NOMEM, the list is partly updated,
 * and the next call tries again. */
spanprof_status sp_module_list_refresh(sp_module_list *list);
void sp_module_list_age(sp_module_list *list);

/* Free the modules that are no longer found, and close the files of the others.
 * Returns true if sp_module_entry_close_files() returned true for one of
 * them. */
bool sp_module_list_close_files(sp_module_list *list);

/* The mapping that contains an address, or NULL. Valid until the next
 * refresh. */
const sp_mapping *sp_module_list_find(const sp_module_list *list,
                                      uint64_t address);

/* The module with this number, or NULL if there is none. */
sp_module_entry *sp_module_list_get(const sp_module_list *list,
                                    uint32_t module);

#endif
