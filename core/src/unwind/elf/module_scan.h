/* A snapshot of the modules that the dynamic loader has loaded. */
#ifndef SP_MODULE_SCAN_H
#define SP_MODULE_SCAN_H

#include "elf_image.h"

/* A module in the loader's list. Addresses are run-time addresses. */
typedef struct sp_scan_record {
  uint64_t start; /* address of the lowest segment */
  uint64_t limit;
  uint64_t code_start; /* address of the lowest executable segment */
  uint64_t code_limit;
  uint64_t bias;        /* run-time address - ELF virtual address */
  uint64_t file_offset; /* file offset of the first executable segment */
  uint64_t segments_hash;
  size_t name; /* offset in `names` */
  bool is_main;
  bool is_vdso;
  char build_id[SP_ELF_BUILD_ID_SIZE];
} sp_scan_record;

typedef struct sp_module_scan {
  const sp_mem *mem;
  uint64_t vdso; /* address of the vDSO; 0: there is none */
  /* How many modules the loader has loaded and unloaded so far. */
  uint64_t adds;
  uint64_t subs;
  bool counted;
  /* Nothing was loaded or unloaded since the earlier scan, so there are no
   * records. */
  bool unchanged;
  size_t callbacks;
  /* The results. During the scan, `count` and `names_size` are the sizes that
   * are needed, which may exceed the capacities. */
  sp_scan_record *records;
  size_t capacity;
  size_t count;
  char *names;
  size_t names_capacity;
  size_t names_size;
} sp_module_scan;

/* Record every module with code. If nothing was loaded or unloaded since the
 * scan `since`, record nothing and set `unchanged`. Only `counted`, `adds` and
 * `subs` of `since` are used. Returns SPANPROF_ERR_NOMEM if there is no memory.
 * The caller disposes of the scan in any case. */
spanprof_status sp_module_scan_run(sp_module_scan *scan,
                                   const sp_module_scan *since,
                                   const sp_mem *mem);
void sp_module_scan_dispose(sp_module_scan *scan);

#endif
