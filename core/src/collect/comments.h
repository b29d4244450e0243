/* Statistics in a profile's pprof comments, for human readers. */
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

/* Write the present counters that help to judge the profile, and `note` unless
 * it is "". */
void sp_comments_write(sp_comments *out, const char *note);

#endif
