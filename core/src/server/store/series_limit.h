/* How many series each application has, and all together, against their
 * limits. Beyond them samples keep their values, but not what tells their
 * series apart: labels become "[other]", or go.
 *
 * Who: the writer's thread alone. */
#ifndef SP_SERIES_LIMIT_H
#define SP_SERIES_LIMIT_H

#include "../../util/hash_index.h"
#include "database.h"

/* What a series that is new may keep, from all to nothing. */
typedef enum sp_series_room {
  SP_SERIES_ALL,
  SP_SERIES_NAMES, /* values of labels become "[other]" */
  SP_SERIES_FEW,   /* also names go; few labels stay: put_profile.c */
  SP_SERIES_NONE,  /* the upload is refused */
} sp_series_room;

struct sp_series_application;

typedef struct sp_series_limit {
  /* Fixed after sp_series_limit_init(). */
  const sp_mem *mem;
  uint64_t max;                 /* 0: no limit */
  uint64_t max_per_application; /* 0: no limit */
  /* As the file has it, where `counted`. */
  bool counted;
  uint64_t count;
  struct sp_series_application *applications;
  size_t application_count;
  size_t application_room;
  sp_index index;
} sp_series_limit;

void sp_series_limit_init(sp_series_limit *limit, const sp_mem *mem,
                          uint64_t max, uint64_t max_per_application);
void sp_series_limit_dispose(sp_series_limit *limit);

/* Count again before the next look: rows were dropped, or not kept. */
void sp_series_limit_forget(sp_series_limit *limit);

/* Room for one more series of an application: the id of its name, 0 for none.
 * *all_full: all applications together are at their limit. */
spanprof_status sp_series_limit_room(sp_series_limit *limit, sqlite3 *db,
                                     uint32_t application, sp_series_room *room,
                                     bool *all_full);

/* A series was added. */
spanprof_status sp_series_limit_add(sp_series_limit *limit,
                                    uint32_t application, uint64_t count);

#endif
