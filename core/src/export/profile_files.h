/* The output directory: {app}-{pid}-{window start ns}.pb.gz, capped in bytes
 * and age. Used by the uploading thread alone.
 *
 * Only files of that very form with our own application's name count and are
 * ever removed, of this and of other processes; so a directory that several
 * applications share holds each one's cap. A name that cannot be in a file's
 * name as it is has a hash behind it. */
#ifndef SP_PROFILE_FILES_H
#define SP_PROFILE_FILES_H

#include "export/upload/series.h"
#include "profile/profile.h"
#include "settings/settings.h"
#include "util/system/clock.h"
#include "util/system/log.h"

typedef struct sp_profile_files sp_profile_files;

/* SPANPROF_ERR_IO: the directory cannot be used; SPANPROF_ERR_NOMEM. */
spanprof_status sp_profile_files_new(sp_profile_files **out, const sp_mem *mem,
                                     const sp_settings *settings,
                                     const sp_clock *clock, sp_log *log);
/* The application is called otherwise from now on. */
void sp_profile_files_name(sp_profile_files *files, const char *name);

void sp_profile_files_free(sp_profile_files *files); /* NULL is fine */

/* Write one profile and, as comments, the series it is of; then remove the
 * oldest files past the caps, never the one just written. *bytes is what was
 * written. SPANPROF_ERR_IO: it is not there, nor a part of it.
 * SPANPROF_ERR_NOMEM: the same. */
spanprof_status sp_profile_files_put(sp_profile_files *files,
                                     const sp_encoded *part,
                                     const sp_series *series, size_t *bytes);

/* Files removed by the caps so far. */
uint64_t sp_profile_files_removed(const sp_profile_files *files);

#endif
