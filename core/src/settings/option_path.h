/* Options that name a file or a directory. */
#ifndef SP_OPTION_PATH_H
#define SP_OPTION_PATH_H

#include "given.h"
#include "util/memory/mem.h"

/* SPANPROF_ERR_ARGUMENT, with the path and the reason: not a file that can be
 * read. */
spanprof_status sp_option_file_check(const sp_given *given);

/* Make the directory (mode 0700, the last part of the path only) where it is
 * missing, see that nobody else can write to it, and try to make a file in it.
 * SPANPROF_ERR_ARGUMENT, with the path and the reason. */
spanprof_status sp_option_directory_check(const sp_given *given,
                                          const sp_mem *mem);

#endif
