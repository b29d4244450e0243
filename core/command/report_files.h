/* Reads profiles from files, each once, and adds them to a report. */
#ifndef SP_REPORT_FILES_H
#define SP_REPORT_FILES_H

#include "command/report/report.h"
#include "command/shared/command_io.h"
#include "command/shared/profile_list.h"

typedef struct sp_report_files {
  const sp_command_io *io;
  const char *word; /* the command's name, for messages */
  const sp_profile_filter *filter;
  sp_report *report;
  uint64_t filtered_out; /* profiles that did not match the filter */
  bool failed;           /* a file could not be read; a message was written */
  /* The contents of the profiles read so far: `device` has the hash of the
   * content, `inode` its size. */
  sp_profile_identity *contents;
  size_t content_count;
  size_t content_capacity;
  sp_index content_index;
  /* Indexes in the list of files: the profiles that were added, but have no
   * type cpu. They are discarded if a CPU profile follows. */
  size_t *added;
  size_t added_count;
  size_t added_capacity;
} sp_report_files;

/* Read all files of `list`, and write a message to io->err for each skipped
 * file: it cannot be read or is not a profile (both set `failed`), does not
 * have the report's type, or was read before. If no type was requested and any
 * profile has the type cpu, only profiles with this type are used, even if the
 * first profile has another type. */
void sp_report_files_read(sp_report_files *files, const sp_profile_list *list);

#endif
