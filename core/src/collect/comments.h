/* The statistics that each profile contains as pprof comments, for people who
 * judge the profile. */
#ifndef SP_COMMENTS_H
#define SP_COMMENTS_H

#include "util/base.h"

#define SP_COMMENT_COUNT 7
#define SP_COMMENT_BYTES 200

typedef struct sp_comments {
  char texts[SP_COMMENT_COUNT][SP_COMMENT_BYTES];
  const char *lines[SP_COMMENT_COUNT];
  size_t count;
} sp_comments;

/* Write the present values of the counters that help to judge a profile, and
 * `note` unless it is "". */
void sp_comments_write(sp_comments *out, const char *note);

#endif
