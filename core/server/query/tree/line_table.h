/* The values of one function by source line. */
#ifndef SP_LINE_TABLE_H
#define SP_LINE_TABLE_H

#include "server/model/stack_tree.h"
#include "util/memory/hash_index.h"

typedef struct sp_line_row {
  int64_t line; /* 0: unknown */
  int64_t self;
  int64_t total;
} sp_line_row;

typedef struct sp_line_table {
  const sp_mem *mem;
  sp_line_row *rows; /* ordered by line */
  size_t count;
  size_t capacity;
  sp_index index;     /* the number in `rows` of each line, before the sort */
  int64_t all;        /* sum of all samples of the stacks */
  int64_t self;       /* of the function: the sum of `self` of its lines */
  int64_t total;      /* of the function: a sample counts once */
  int64_t start_line; /* lowest first line of the function; 0: unknown */
} sp_line_table;

/* Sum the values of the function with this name. If `file` is not NULL, only
 * the function of this file is summed. A sample is added once to the `total` of
 * each of its lines, even if the function calls itself, and to the `self` of
 * its innermost line. Can return SPANPROF_ERR_NOMEM, and SPANPROF_ERR_TIMEOUT
 * if the query is cancelled. Dispose of *out also in these cases. */
spanprof_status sp_line_table_make(sp_line_table *out, const sp_mem *mem,
                                   const sp_stack_tree *stacks,
                                   const char *name, const char *file);
void sp_line_table_dispose(sp_line_table *table);

#endif
