/* The output directory: {app}-{pid}-{window start ns}.pb.gz, capped in bytes
 * and age. Used by the uploading thread alone.
 *
 * Only files of that very form with our own application's name count and are
 * ever removed, of this and of other processes; so a directory that several
 * applications share holds each one's cap. */
#ifndef SP_PROFILE_FILES_H
#define SP_PROFILE_FILES_H

#include "../profile/profile.h"
#include "../util/clock.h"
#include "../util/log.h"
#include "../util/settings.h"

typedef struct sp_profile_files sp_profile_files;

/* SPANPROF_ERR_IO: the directory cannot be used; SPANPROF_ERR_NOMEM. */
spanprof_status sp_profile_files_new(sp_profile_files **out, const sp_mem *mem,
                                     const sp_settings *settings,
                                     const sp_clock *clock, sp_log *log);
void sp_profile_files_free(sp_profile_files *files); /* NULL is fine */

/* Write one profile, then remove the oldest files past the caps, never the one
 * just written. SPANPROF_ERR_IO: it is not there, nor a part of it. */
spanprof_status sp_profile_files_put(sp_profile_files *files,
                                     const sp_encoded *part);

/* Files removed by the caps so far. */
uint64_t sp_profile_files_removed(const sp_profile_files *files);

#endif
