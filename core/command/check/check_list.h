/* The results of `spanprof check`, one line for each check. */
#ifndef SP_CHECK_LIST_H
#define SP_CHECK_LIST_H

#include "command/shared/command_io.h"

typedef enum sp_check_state {
  SP_CHECK_OK,
  SP_CHECK_FAILED,
  SP_CHECK_SKIPPED, /* not configured, or could not be tested */
} sp_check_state;

typedef struct sp_check_list {
  const sp_command_io *io;
  size_t failed;
} sp_check_list;

/* Print a result, for example "ok      signal       27", and count failures. */
void sp_check_print(sp_check_list *list, sp_check_state state, const char *what,
                    const char *format, ...) SP_PRINTF(4, 5);

#endif
