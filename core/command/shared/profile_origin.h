/* What a whole profile says of where it is from, and which profiles are meant.
 */
#ifndef SP_PROFILE_ORIGIN_H
#define SP_PROFILE_ORIGIN_H

#include "profile/pprof/pprof_reader.h"

typedef struct sp_profile_origin {
  const char *application; /* the profile's; NULL: not told */
  uint64_t process;        /* 0: not told */
  uint64_t start_ns;       /* Unix time; 0: not told */
  uint64_t end_ns;
} sp_profile_origin;

/* Our profiles name the application in a comment, "label service_name=NAME";
 * the process is in the name of their files, "NAME-PID-TIME.pb.gz". `path` may
 * be NULL. */
void sp_profile_origin_read(sp_profile_origin *out, const sp_pprof *profile,
                            const char *path);

/* A label of the whole profile, from a comment "label KEY=VALUE"; NULL: it has
 * none of that key. */
const char *sp_profile_label(const sp_pprof *profile, const char *key,
                             size_t key_bytes);

/* The label that a comment is, *key and *key_bytes its name; NULL: it is none.
 */
const char *sp_profile_label_at(const sp_pprof *profile, size_t comment,
                                const char **key, size_t *key_bytes);

/* Everything set has to match. */
typedef struct sp_profile_filter {
  uint64_t from_ns;  /* Unix time; 0: any */
  uint64_t until_ns; /* the same */
  const char *application;
  uint64_t process;
} sp_profile_filter;

/* By time: whether any of the profile's lies within. */
bool sp_profile_filter_takes(const sp_profile_filter *filter,
                             const sp_profile_origin *origin);

#endif
