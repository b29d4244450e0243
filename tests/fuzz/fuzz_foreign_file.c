/* Reads a file in any format, and checks that all references of the profile are
 * valid. */
#include "formats/foreign_file.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_sample(const sp_pprof *profile,
                         const sp_pprof_sample *sample) {
  uint32_t i;

  for (i = 0; i < sample->location_count; i++) {
    const uint32_t at = sample->locations[i];

    if (at >= profile->location_count ||
        profile->locations[at].lines->function >= profile->function_count)
      abort();
  }
  for (i = 0; i < profile->type_count; i++)
    if (sample->values[i] < 0)
      abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const char *const names[] = {"a.folded", "a.txt"};
  sp_foreign_file file;
  size_t i, k;

  for (i = 0; i < SP_COUNT_OF(names); i++) {
    if (sp_foreign_file_read(&file, &sp_mem_default, names[i], data, size))
      continue;
    if (file.type_count == 0 || file.type_count > file.profile->type_count ||
        file.profile->default_type >= file.profile->type_count)
      abort();
    /* Other tests read pprof profiles, whose samples may be negative. */
    for (k = 0; file.is_other && k < file.profile->sample_count; k++)
      check_sample(file.profile, &file.profile->samples[k]);
    sp_pprof_free(file.profile);
  }
  return 0;
}
