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
  bool failed;           /* a file could not be read; this was reported */
  /* The contents read so far, each as a hash and a size. */
  sp_profile_identity *contents;
  size_t content_count;
  size_t content_capacity;
  sp_index content_index;
  /* Indexes in the list of the profiles that were added with another type than
   * cpu. They are discarded if a CPU profile follows. */
  size_t *added;
  size_t added_count;
  size_t added_capacity;
} sp_report_files;

/* Read all of `list`, and report skipped files on io->err: files that are not
 * profiles or cannot be read (both set `failed`), profiles of another type, and
 * repeated profiles. If profiles have different types, those of the CPU are
 * used, even if the first profile has another type. */
void sp_report_files_read(sp_report_files *files, const sp_profile_list *list);

#endif
