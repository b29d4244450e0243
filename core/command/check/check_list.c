#include "check_list.h"

#include <stdarg.h>

void sp_check_print(sp_check_list *list, sp_check_state state, const char *what,
                    const char *format, ...) {
  static const char *const words[] = {[SP_CHECK_OK] = "ok",
                                      [SP_CHECK_FAILED] = "FAILED",
                                      [SP_CHECK_SKIPPED] = "-"};
  va_list arguments;

  fprintf(list->io->out, "%-6s  %-12s ", words[state], what);
  va_start(arguments, format);
  vfprintf(list->io->out, format, arguments);
  va_end(arguments);
  fputs("\n", list->io->out);
  fflush(list->io->out);
  list->failed += state == SP_CHECK_FAILED;
}
