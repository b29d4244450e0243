/* Parses YAML files. A tree that was parsed must be finite, and its nodes must
 * have their texts and names. */
#include <stdlib.h>
#include <string.h>

#include "server/model/yaml_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t values_of(const sp_yaml *value, size_t depth) {
  const sp_yaml_item *item;
  size_t values = 1;

  if (!value->line || (value->kind == SP_YAML_TEXT && !value->text))
    abort();
  if (depth == 1000) /* stop, because aliases allow any depth */
    return value->values;
  for (item = value->first; item; item = item->next) {
    if ((value->kind == SP_YAML_MAP) != (item->name != NULL))
      abort();
    values += values_of(item->value, depth + 1);
  }
  if (values != value->values)
    abort();
  return values;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  sp_yaml_file file;

  sp_yaml_file_init(&file, "--file", "f", NULL, &sp_mem_default);
  if (size <= SP_YAML_BYTES_MAX && !sp_yaml_file_read(&file, data, size) &&
      values_of(file.root, 0) > SP_YAML_VALUES_MAX)
    abort();
  sp_yaml_file_dispose(&file);
  return 0;
}
