/* What profiles say of their making (their comments): drops, overhead. */
#ifndef SP_REPORT_COMMENTS_H
#define SP_REPORT_COMMENTS_H

#include "command/shared/profile_origin.h"
#include "profile/tables/name_table.h"

/* So many different ones are kept, and so many forms of ours. */
#define SP_REPORT_COMMENTS_MAX      (UINT32_C(1) << 16)
#define SP_REPORT_COMMENT_FORMS_MAX 32

typedef struct sp_report_comment {
  uint32_t text;
  uint32_t form;    /* the text without its numbers, where they are added up */
  uint64_t process; /* which process counted them; 0: kept as it is */
  uint64_t time_ns; /* of the profile that it is from */
} sp_report_comment;

/* Our counters count from a process's start: of each process the latest are
 * added up. */
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

/* Note those of a profile; labels ("label KEY=VALUE") are none.
 * SPANPROF_ERR_NOMEM, SPANPROF_ERR_LIMIT. */
spanprof_status sp_report_comments_add(sp_report_comments *comments,
                                       const sp_pprof *profile,
                                       const sp_profile_origin *origin);

/* One after the other: start with *at 0; false at the end. Cut where it is
 * longer than `size`. */
bool sp_report_comments_next(const sp_report_comments *comments, size_t *at,
                             char *text, size_t size);

#endif
