/* The comments in which profiles report how they were recorded: dropped
 * samples, overhead. */
#ifndef SP_REPORT_COMMENTS_H
#define SP_REPORT_COMMENTS_H

#include "command/shared/profile_origin.h"
#include "profile/tables/name_table.h"

/* Largest numbers of distinct comments, and of distinct forms of comments with
 * counters. */
#define SP_REPORT_COMMENTS_MAX      (UINT32_C(1) << 16)
#define SP_REPORT_COMMENT_FORMS_MAX 32

typedef struct sp_report_comment {
  uint32_t text;
  uint32_t form; /* index of the text with `#` for each number; 0 if the numbers
                  * are not added up */
  uint64_t process; /* hash of the process that counted; 0: the numbers are not
                     * added up */
  uint64_t time_ns; /* start of the profile, Unix time */
} sp_report_comment;

/* Some comments in profiles of spanprof have counters that start at 0 in each
 * process and only grow. So the report shows the sum of the latest counters of
 * all processes. */
typedef struct sp_report_comments {
  sp_name_table names;
  sp_report_comment *items;
  size_t count;
  size_t capacity;
  sp_index index;
  uint32_t forms[SP_REPORT_COMMENT_FORMS_MAX];
  size_t form_count;
  uint64_t left_out;
} sp_report_comments;

void sp_report_comments_init(sp_report_comments *comments, const sp_mem *mem);
void sp_report_comments_dispose(sp_report_comments *comments);

/* Add the comments of a profile, except labels ("label KEY=VALUE"). Returns
 * SPANPROF_ERR_NOMEM or SPANPROF_ERR_LIMIT, and sets the error message, if
 * memory or a limit is exhausted. */
spanprof_status sp_report_comments_add(sp_report_comments *comments,
                                       const sp_pprof *profile,
                                       const sp_profile_origin *origin);

/* Get the next comment as `text`, cut to `size` bytes. The caller sets *at to 0
 * before the first call. Returns false after the last comment. */
bool sp_report_comments_next(const sp_report_comments *comments, size_t *at,
                             char *text, size_t size);

#endif
