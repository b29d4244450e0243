#include "flags.h"

#include "../util/status.h"

#include <string.h>

void sp_flags_init(sp_flags *flags, int argc, char **argv) {
  *flags = (sp_flags){.argc = argc, .argv = argv, .at = 1};
}

static int flags_find(const sp_flag *table, size_t count, const char *text,
                      size_t bytes) {
  size_t i;

  for (i = 0; i < count; i++) {
    if (strlen(table[i].name) == bytes &&
        memcmp(table[i].name, text, bytes) == 0)
      return (int)i;
  }
  sp_fail(SPANPROF_ERR_ARGUMENT, "unknown option %.*s", (int)bytes, text);
  return SP_FLAG_WRONG;
}

int sp_flags_next(sp_flags *flags, const sp_flag *table, size_t count,
                  const char **value) {
  const char *text, *equals;
  size_t bytes;
  int found;

  *value = NULL;
  if (flags->at < flags->argc && !flags->operands_only &&
      strcmp(flags->argv[flags->at], "--") == 0) {
    flags->operands_only = true;
    flags->at++;
  }
  if (flags->at >= flags->argc)
    return SP_FLAG_END;
  text = flags->argv[flags->at++];
  if (flags->operands_only || text[0] != '-' || text[1] == '\0') {
    *value = text;
    return SP_FLAG_OPERAND;
  }
  equals = strchr(text, '=');
  bytes = equals ? (size_t)(equals - text) : strlen(text);
  found = flags_find(table, count, text, bytes);
  if (found < 0)
    return found;
  if (table[found].takes_value && equals) {
    *value = equals + 1;
  } else if (table[found].takes_value && flags->at < flags->argc) {
    *value = flags->argv[flags->at++];
  } else if (table[found].takes_value || equals) {
    sp_fail(SPANPROF_ERR_ARGUMENT, "option %s takes %s value",
            table[found].name, equals ? "no" : "a");
    return SP_FLAG_WRONG;
  }
  return found;
}
