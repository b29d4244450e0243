/* Adds up the stacks of a file in another tool's format, and makes a pprof
 * profile of them. Readers of formats call these functions. */
#ifndef SP_FOREIGN_SUMS_H
#define SP_FOREIGN_SUMS_H

#include "profile/pprof/pprof_reader.h"
#include "profile/tables/arena.h"
#include "profile/tables/call_tree.h"
#include "util/memory/buffer.h"
#include "util/text/view.h"

#define SP_FOREIGN_TYPES_MAX 64
#define SP_FOREIGN_DEPTH_MAX 4096

/* The type of the baseline's values, if a file is a comparison. */
#define SP_FOREIGN_BEFORE "before"

typedef struct sp_foreign_sum {
  uint32_t node; /* the stack: a node of `calls` */
  uint32_t thread;
  uint32_t type;
  uint64_t samples;
  double value;
} sp_foreign_sum;

typedef struct sp_foreign {
  const sp_mem *mem;
  sp_pprof *profile; /* the result */
  sp_arena *arena;   /* the memory of the result */
  sp_buffer text;    /* name and file of a function that is looked up */
  sp_pprof_type types[SP_FOREIGN_TYPES_MAX + 1];
  uint32_t type_count;
  bool counts; /* the last type was added: it counts samples */
  /* A reader sets it if the type "samples" of the file counts the samples of
   * its other types, too. All values of a stack are then in one sample. */
  bool is_joint;
  const char **threads; /* their names */
  size_t thread_count;
  size_t thread_capacity;
  sp_pprof_function *functions;
  size_t function_count;
  size_t function_capacity;
  sp_index function_index;
  sp_call_tree calls; /* the value of a node is its depth */
  sp_foreign_sum *sums;
  size_t sum_count;
  size_t sum_capacity;
  sp_index sum_index;
} sp_foreign;

/* Returns SPANPROF_ERR_NOMEM if memory ran out. The caller disposes of it in
 * any case. */
spanprof_status sp_foreign_init(sp_foreign *foreign, const sp_mem *mem);
void sp_foreign_dispose(sp_foreign *foreign);

/* All functions below return SPANPROF_ERR_NOMEM or SPANPROF_ERR_LIMIT if memory
 * or a limit is exhausted. */

/* Find or add a type of values. The first one is the default, unless
 * profile->default_type is changed. If there are too many types, *type gets
 * SP_PPROF_NONE, and sp_foreign_add() skips its values. */
spanprof_status sp_foreign_type(sp_foreign *foreign, sp_view name,
                                const char *unit, uint32_t *type);

/* Add a thread, which becomes the label "thread" of its samples if the file has
 * several threads. */
spanprof_status sp_foreign_thread(sp_foreign *foreign, sp_view name,
                                  uint32_t *thread);

/* Find or add a function. */
spanprof_status sp_foreign_function(sp_foreign *foreign, sp_view name,
                                    sp_view file, int64_t line,
                                    uint32_t *function);

/* Replace *node, which is 0 for an empty stack, by the stack with this call.
 * Returns SPANPROF_ERR_FORMAT and sets the error message if there are too many
 * calls. */
spanprof_status sp_foreign_call(sp_foreign *foreign, uint32_t *node,
                                uint32_t function);

/* Add a value to a stack. Fractions are added up, and each sum is rounded once.
 * Values that are not positive are skipped. */
spanprof_status sp_foreign_add(sp_foreign *foreign, uint32_t node,
                               uint32_t type, uint32_t thread, double value,
                               uint64_t samples);

/* Make the profile, which the caller frees with sp_pprof_free(). If no type is
 * the number of samples, such a type is added. */
spanprof_status sp_foreign_finish(sp_foreign *foreign, sp_pprof **out);

#endif
