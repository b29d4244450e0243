/* What the dynamic loader has loaded, taken down in one go. */
#ifndef SP_MODULE_SCAN_H
#define SP_MODULE_SCAN_H

#include "elf_image.h"

/* One module as the loader shows it; addresses are run-time ones. */
typedef struct sp_scan_record {
  uint64_t start; /* all segments */
  uint64_t limit;
  uint64_t code_start; /* the executable ones */
  uint64_t code_limit;
  uint64_t bias;        /* run-time address less ELF virtual address */
  uint64_t file_offset; /* of the first executable one */
  uint64_t segments_hash;
  size_t name; /* in `names` */
  bool is_main;
  bool is_vdso;
  char build_id[SP_ELF_BUILD_ID_SIZE];
} sp_scan_record;

typedef struct sp_module_scan {
  const sp_mem *mem;
  uint64_t vdso; /* 0: there is none */
  /* The loader's counts of loadings and unloadings. */
  uint64_t adds;
  uint64_t subs;
  bool counted;
  bool unchanged; /* the counts are those given: no records */
  size_t callbacks;
  /* Records and names, with the sizes that were needed. */
  sp_scan_record *records;
  size_t capacity;
  size_t count;
  char *names;
  size_t names_capacity;
  size_t names_size;
} sp_module_scan;

/* Take down every module with code, unless `since`, an earlier scan of which
 * `counted`, `adds` and `subs` are kept, shows that nothing changed.
 * SPANPROF_ERR_NOMEM. The scan is to be disposed of in any case. */
spanprof_status sp_module_scan_run(sp_module_scan *scan,
                                   const sp_module_scan *since,
                                   const sp_mem *mem);
void sp_module_scan_dispose(sp_module_scan *scan);

#endif
