/* The comments of profiles about their own creation: drops, overhead. */
#ifndef SP_REPORT_COMMENTS_H
#define SP_REPORT_COMMENTS_H

#include "command/shared/profile_origin.h"
#include "profile/tables/name_table.h"

/* Largest numbers of distinct comments and of distinct forms of our comments
 * that are stored. */
#define SP_REPORT_COMMENTS_MAX      (UINT32_C(1) << 16)
#define SP_REPORT_COMMENT_FORMS_MAX 32

typedef struct sp_report_comment {
  uint32_t text;
  uint32_t form;    /* the text with `#` for each number, if numbers are added
                     * up */
  uint64_t process; /* the process whose counters these are; 0: the numbers are
                     * not added up */
  uint64_t time_ns; /* of its profile */
} sp_report_comment;

/* Comments of our profiles have counters that start at 0 in each process. The
 * report shows the sum of the latest counters of all processes. */
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
