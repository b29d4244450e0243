/* The comments of profiles about their own creation: drops, overhead. */
#ifndef SP_REPORT_COMMENTS_H
#define SP_REPORT_COMMENTS_H

#include "command/shared/profile_origin.h"
#include "profile/tables/name_table.h"

/* Most different comments, and most forms of our comments, that are stored. */
#define SP_REPORT_COMMENTS_MAX      (UINT32_C(1) << 16)
#define SP_REPORT_COMMENT_FORMS_MAX 32

typedef struct sp_report_comment {
  uint32_t text;
  uint32_t form;    /* the text without its numbers, if these are added up */
  uint64_t process; /* the process that counted; 0: the comment is stored as
                     * it is */
  uint64_t time_ns; /* of its profile */
} sp_report_comment;

/* Our counters start at 0 in each process: the latest counts of all processes
 * are added up. */
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

/* Add the comments of a profile, except labels ("label KEY=VALUE").
 * SPANPROF_ERR_NOMEM, SPANPROF_ERR_LIMIT. */
spanprof_status sp_report_comments_add(sp_report_comments *comments,
                                       const sp_pprof *profile,
                                       const sp_profile_origin *origin);

/* Iterate: start with *at 0. Returns false at the end. Texts longer than `size`
 * are cut. */
bool sp_report_comments_next(const sp_report_comments *comments, size_t *at,
                             char *text, size_t size);

#endif
