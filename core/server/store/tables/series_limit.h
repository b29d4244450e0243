/* Counts the series of each application and of all together, and compares them
 * with their limits. When a limit is reached, samples keep their values, but
 * labels that would make a new series get the value "[other]", or are removed.
 *
 * Only the writer's thread may call these functions. */
#ifndef SP_SERIES_LIMIT_H
#define SP_SERIES_LIMIT_H

#include "database.h"
#include "util/memory/hash_index.h"

/* The labels that a new series may keep, from all labels to none. */
typedef enum sp_series_allowance {
  SP_SERIES_ALL,
  SP_SERIES_NAMES, /* label values become "[other]" */
  SP_SERIES_FEW,   /* only service_name and labels that begin with "__" are
                    * kept */
  SP_SERIES_NONE,  /* the upload is refused */
} sp_series_allowance;

struct sp_series_application;

typedef struct sp_series_limit {
  /* Fixed after sp_series_limit_init(). */
  const sp_mem *mem;
  uint64_t max;                 /* 0: no limit */
  uint64_t max_per_application; /* 0: no limit */
  /* The counts in the file, valid if `counted`. */
  bool counted;
  uint64_t count;
  struct sp_series_application *applications;
  size_t application_count;
  size_t application_capacity;
  sp_index index;
} sp_series_limit;

void sp_series_limit_init(sp_series_limit *limit, const sp_mem *mem,
                          uint64_t max, uint64_t max_per_application);
void sp_series_limit_dispose(sp_series_limit *limit);

/* Forget the counts, because rows were deleted or rolled back. The next call
 * counts them again. */
void sp_series_limit_forget(sp_series_limit *limit);

/* Get the labels that one more series of an application may keep. `application`
 * is the id of its name (0: none). *all_full is set if all applications
 * together have reached their limit. Returns the status of sp_database_step()
 * or SPANPROF_ERR_NOMEM. */
spanprof_status sp_series_limit_allowance(sp_series_limit *limit, sqlite3 *db,
                                          sp_row_id application,
                                          sp_series_allowance *allowed,
                                          bool *all_full);

/* Add `count` new series of an application to the counts. Returns
 * SPANPROF_ERR_NOMEM on failure. */
spanprof_status sp_series_limit_add(sp_series_limit *limit,
                                    sp_row_id application, uint64_t count);

#endif
