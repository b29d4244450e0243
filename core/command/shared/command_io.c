#include "command_io.h"

#include <limits.h>
#include <string.h>

#include "arguments.h"
#include "util/system/status.h"
#include "util/text/utf8.h"

void sp_command_error(const sp_command_io *io, const char *word,
                      const char *path, const char *why) {
  char shown[PATH_MAX];

  if (!path) {
    fprintf(io->err, "spanprof %s: %s\n", word, why);
    return;
  }
  shown[sp_utf8_printable(path, strlen(path), shown, sizeof shown - 1)] = '\0';
  fprintf(io->err, "spanprof %s: %s: %s\n", word, shown, why);
}

int sp_command_no_arguments(const sp_command_io *io, const char *usage,
                            int argc, char **argv) {
  sp_arguments arguments;
  const char *value;
  int found;

  sp_arguments_init(&arguments, NULL, 0, argc, argv);
  found = sp_arguments_next(&arguments, &value);
  if (found == SP_ARGUMENT_END)
    return -1;
  if (found == SP_ARGUMENT_WRONG)
    sp_command_error(io, argv[0], NULL, spanprof_last_error());
  fputs(usage, found == SP_ARGUMENT_HELP ? io->out : io->err);
  return found == SP_ARGUMENT_HELP ? SP_EXIT_OK : SP_EXIT_USAGE;
}
