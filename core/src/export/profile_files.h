/* The output directory: files {app}-{pid}-{window start ns}.pb.gz, limited in
 * bytes and age. Used by the uploading thread.
 *
 * Only files of this form with our application's name count and are removed, of
 * this and of other processes. If several applications share a directory, each
 * has its own limits. If the application's name has characters that a file name
 * cannot have, a hash follows the name. */
#ifndef SP_PROFILE_FILES_H
#define SP_PROFILE_FILES_H

#include "export/upload/series.h"
#include "profile/profile.h"
#include "settings/settings.h"
#include "util/system/clock.h"
#include "util/system/log.h"

typedef struct sp_profile_files sp_profile_files;

/* Create it. SPANPROF_ERR_IO: the directory cannot be used. SPANPROF_ERR_NOMEM.
 */
spanprof_status sp_profile_files_new(sp_profile_files **out, const sp_mem *mem,
                                     const sp_settings *settings,
                                     const sp_clock *clock, sp_log *log);
/* Change the name of the application. */
void sp_profile_files_name(sp_profile_files *files, const char *name);

void sp_profile_files_free(sp_profile_files *files); /* may be NULL */

/* Write a profile, and its series as comments. Then remove the oldest files
 * beyond the limits, but never the new one. *bytes is the number of written
 * bytes. SPANPROF_ERR_IO, SPANPROF_ERR_NOMEM: nothing was written. */
spanprof_status sp_profile_files_put(sp_profile_files *files,
                                     const sp_encoded *part,
                                     const sp_series *series, size_t *bytes);

/* Return the number of files removed because of the limits. */
uint64_t sp_profile_files_removed(const sp_profile_files *files);

#endif
