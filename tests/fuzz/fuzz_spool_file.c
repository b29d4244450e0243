/* Reads any file as a spool file. */
#include "export/spool/spool_file.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *content = sp_mem_new(&sp_mem_default, size);
  const char *name = NULL, *value = NULL;
  sp_spool_file file;
  size_t count = 0;

  if (!content)
    return 0;
  if (size)
    memcpy(content, data, size);
  if (sp_spool_file_parse(&file, &sp_mem_default, content, size))
    return 0;
  while (sp_series_next(&file.series, &name, &value))
    count += strlen(name) + strlen(value) + 2;
  /* The labels and the profile must be completely inside the file. */
  if (count != file.series.size ||
      (char *)file.part.bytes + file.part.size != file.content + size)
    abort();
  sp_spool_file_dispose(&file);
  return 0;
}
