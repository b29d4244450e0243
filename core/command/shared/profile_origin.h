/* The origin of a profile: its application, process and time. Also filters that
 * select profiles by origin. */
#ifndef SP_PROFILE_ORIGIN_H
#define SP_PROFILE_ORIGIN_H

#include "profile/pprof/pprof_reader.h"

typedef struct sp_profile_origin {
  const char *application; /* NULL: unknown */
  uint64_t process;        /* 0: unknown */
  uint64_t start_ns;       /* Unix time; 0: unknown */
  uint64_t end_ns;
} sp_profile_origin;

/* Get the origin of a profile. A profile of spanprof names the application in
 * the comment "label service_name=NAME", and the name of its file,
 * "NAME-PID-TIME.pb.gz", has the process id. `path` may be NULL. */
void sp_profile_origin_read(sp_profile_origin *out, const sp_pprof *profile,
                            const char *path);

/* Returns the value of a label of the whole profile, which a comment "label
 * KEY=VALUE" has, or NULL. */
const char *sp_profile_label(const sp_pprof *profile, const char *key,
                             size_t key_bytes);

/* If the comment with this index is a label, return its value, and its name in
 * *key and *key_bytes. Otherwise return NULL. */
const char *sp_profile_label_at(const sp_pprof *profile, size_t comment,
                                const char **key, size_t *key_bytes);

/* A profile must match all members that are set. */
typedef struct sp_profile_filter {
  uint64_t from_ns;  /* Unix time; 0: any */
  uint64_t until_ns; /* Unix time; 0: any */
  const char *application;
  uint64_t process;
} sp_profile_filter;

/* Returns whether a profile with this origin matches. The time matches if any
 * part of the profile is in the range. */
bool sp_profile_filter_matches(const sp_profile_filter *filter,
                               const sp_profile_origin *origin);

#endif
