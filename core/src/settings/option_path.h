/* Checks of options that are the path of a file or directory. */
#ifndef SP_OPTION_PATH_H
#define SP_OPTION_PATH_H

#include "option_value.h"
#include "util/memory/mem.h"

/* Check that a file can be read. If not, returns SPANPROF_ERR_ARGUMENT, and the
 * last error has the path and the reason. */
spanprof_status sp_option_file_check(const sp_option_value *given);

/* Create the directory with mode 0700 if only its last component is missing,
 * check that no other user can write to it, and try to create a file in it. If
 * something fails, returns SPANPROF_ERR_ARGUMENT, and the last error has the
 * path and the reason. */
spanprof_status sp_option_directory_check(const sp_option_value *given,
                                          const sp_mem *mem);

#endif
