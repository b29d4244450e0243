/* The modules of the process: which is loaded where. */
#ifndef SP_MODULE_LIST_H
#define SP_MODULE_LIST_H

#include "module.h"
#include "unwind/elf/module_scan.h"

/* One module's place in memory, at run time. */
typedef struct sp_mapping {
  uint64_t start; /* all its segments */
  uint64_t limit;
  uint64_t code_start; /* its executable ones */
  uint64_t code_limit;
  uint64_t bias;   /* run-time address less ELF virtual address */
  uint32_t module; /* number in the list, from 1 */
  uint8_t grace;   /* ages left to live after the unloading; 0: loaded */
  bool seen;       /* during a refresh */
} sp_mapping;

/* Where debuggers and the distributions' packages have separate debug files. */
#define SP_MODULE_DEBUG_DIRECTORY "/usr/lib/debug"

typedef struct sp_module_list {
  const sp_mem *mem;
  const char *debug_directory; /* SP_MODULE_DEBUG_DIRECTORY but for tests */
  sp_module_entry **modules;   /* by their numbers */
  size_t module_count;
  size_t module_capacity;
  sp_mapping *mappings; /* by start; they do not overlap */
  size_t mapping_count;
  size_t mapping_capacity;
  uint32_t last_number;     /* given to a module; none is given twice */
  uint64_t generation;      /* changes whenever `mappings` does */
  sp_module_scan last_scan; /* its counts only */
} sp_module_list;

void sp_module_list_init(sp_module_list *list, const sp_mem *mem);
void sp_module_list_dispose(sp_module_list *list);

/* Take notice of what was loaded and unloaded. A module that went is still
 * found until the second sp_module_list_age() from here, for samples taken
 * before it went, unless its place was taken. SPANPROF_ERR_NOMEM: what could be
 * noticed was, the next call tries again. */
spanprof_status sp_module_list_refresh(sp_module_list *list);
void sp_module_list_age(sp_module_list *list);

/* Free the modules that are found no more; close what the others have open.
 * True: as sp_module_entry_close_files(), of any. */
bool sp_module_list_close_files(sp_module_list *list);

/* The mapping an address is in; NULL: none. Valid until the next refresh. */
const sp_mapping *sp_module_list_find(const sp_module_list *list,
                                      uint64_t address);

/* NULL: no such module. */
sp_module_entry *sp_module_list_get(const sp_module_list *list,
                                    uint32_t module);

#endif
