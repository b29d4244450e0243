/* Reads any profile, compressed or not, with the library's reader. */
#include "profile/pprof/pprof_reader.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t read_sample(const sp_pprof *profile,
                          const sp_pprof_sample *sample) {
  size_t bytes = 0, i;

  for (i = 0; i < profile->type_count; i++)
    bytes += sample->values[i] != 0;
  for (i = 0; i < sample->location_count; i++)
    if (sample->locations[i] >= profile->location_count)
      abort();
  for (i = 0; i < sample->label_count; i++) {
    const sp_pprof_label *label = &sample->labels[i];

    bytes += strlen(label->key) + strlen(label->unit);
    if (label->text)
      bytes += strlen(label->text);
  }
  return bytes;
}

/* Checks that an accepted profile has no invalid references. */
static size_t read_all(const sp_pprof *profile) {
  size_t bytes = 0, i, j;

  if (profile->type_count == 0 || profile->default_type >= profile->type_count)
    abort();
  for (i = 0; i < profile->type_count; i++)
    bytes += strlen(profile->types[i].type) + strlen(profile->types[i].unit);
  for (i = 0; i < profile->mapping_count; i++)
    bytes += strlen(profile->mappings[i].file) +
             strlen(profile->mappings[i].build_id);
  for (i = 0; i < profile->function_count; i++)
    bytes += strlen(profile->functions[i].name) +
             strlen(profile->functions[i].system_name) +
             strlen(profile->functions[i].file);
  for (i = 0; i < profile->location_count; i++) {
    const sp_pprof_location *location = &profile->locations[i];

    if (location->mapping != SP_PPROF_NONE &&
        location->mapping >= profile->mapping_count)
      abort();
    for (j = 0; j < location->line_count; j++)
      if (location->lines[j].function >= profile->function_count)
        abort();
  }
  for (i = 0; i < profile->sample_count; i++)
    bytes += read_sample(profile, &profile->samples[i]);
  for (i = 0; i < profile->comment_count; i++)
    bytes += strlen(profile->comments[i]);
  return bytes;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  sp_pprof *profile;

  if (sp_pprof_read(&profile, &sp_mem_default, data, size) == SPANPROF_OK) {
    if (read_all(profile) == SIZE_MAX)
      abort();
    sp_pprof_free(profile);
  } else if (profile) {
    abort();
  }
  return 0;
}
