/* Reads a profile in any format: pprof, folded stacks, the output of perf
 * script, speedscope, .cpuprofile, .heapprofile, Firefox, Chrome's traces,
 * stackprof, or flamebearer. */
#ifndef SP_FOREIGN_FILE_H
#define SP_FOREIGN_FILE_H

#include "profile/pprof/pprof_reader.h"

typedef struct sp_foreign_file {
  sp_pprof *profile; /* free it with sp_pprof_free() */
  /* The types that the file has. A last type "samples", which counts samples,
   * may have been added to the profile. */
  size_t type_count;
  bool is_other;  /* the file is not pprof */
  bool is_folded; /* the file has folded stacks */
} sp_foreign_file;

/* Read the uncompressed content of the file `name`. Returns
 * SPANPROF_ERR_FORMAT, SPANPROF_ERR_LIMIT or SPANPROF_ERR_NOMEM. The message of
 * the first two continues a sentence that begins with the file's name: "is not
 * a pprof profile". out->profile is NULL on failure. */
spanprof_status sp_foreign_file_read(sp_foreign_file *out, const sp_mem *mem,
                                     const char *name, const void *bytes,
                                     size_t size);

#endif
