/* The output directory. It contains files {app}-{pid}-{window start in
 * ns}.pb.gz, limited in total size and in age. All functions are called on the
 * uploading thread.
 *
 * Only files of this form with the name of the session's application are
 * counted and removed, also files of other processes. So if several
 * applications share a directory, each has its own limits. If the application's
 * name has characters that a file name cannot have, they are replaced and a
 * hash follows the name. */
#ifndef SP_PROFILE_FILES_H
#define SP_PROFILE_FILES_H

#include "export/upload/series.h"
#include "profile/profile.h"
#include "settings/settings.h"
#include "util/system/clock.h"
#include "util/system/log.h"

typedef struct sp_profile_files sp_profile_files;

/* Create the structure and check the directory. Returns SPANPROF_ERR_ARGUMENT
 * or SPANPROF_ERR_IO if the directory cannot be used, or SPANPROF_ERR_NOMEM. */
spanprof_status sp_profile_files_new(sp_profile_files **out, const sp_mem *mem,
                                     const sp_settings *settings,
                                     const sp_clock *clock, sp_log *log);
/* Change the name of the application. */
void sp_profile_files_name(sp_profile_files *files, const char *name);

void sp_profile_files_free(sp_profile_files *files); /* may be NULL */

/* Write a profile to a new file, with the labels of its series as comments.
 * Then remove the oldest files until the limits are met, but never the new one.
 * *bytes is the number of written bytes. Returns SPANPROF_ERR_IO or
 * SPANPROF_ERR_NOMEM if no file was written. */
spanprof_status sp_profile_files_put(sp_profile_files *files,
                                     const sp_encoded *part,
                                     const sp_series *series, size_t *bytes);

/* Return the number of files that were removed because of the limits. */
uint64_t sp_profile_files_removed(const sp_profile_files *files);

#endif
