/* Profiles of files, read once each and added to a report. */
#ifndef SP_REPORT_FILES_H
#define SP_REPORT_FILES_H

#include "command/report/report.h"
#include "command/shared/command_io.h"
#include "command/shared/profile_list.h"

typedef struct sp_report_files {
  const sp_command_io *io;
  const char *word; /* the command's, for complaints */
  const sp_profile_filter *filter;
  sp_report *report;
  uint64_t passed_over; /* profiles that the filter did not take */
  bool failed;          /* one could not be read; it was said */
  /* Contents read so far: hash and size. */
  sp_profile_identity *contents;
  size_t content_count;
  size_t content_capacity;
  sp_index content_index;
  /* Those added while the report's type may still become cpu. */
  size_t *added;
  size_t added_count;
  size_t added_capacity;
} sp_report_files;

/* Read all of `list`, and say on io->err what was left out: no profile, not to
 * be read (both fail), of another type, the same as one before. Of profiles of
 * several types those of the CPU are meant, though the first may be another. */
void sp_report_files_read(sp_report_files *files, const sp_profile_list *list);

#endif
