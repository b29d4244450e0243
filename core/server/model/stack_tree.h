/* The result of a query: the merged stacks of samples, as a tree. */
#ifndef SP_STACK_TREE_H
#define SP_STACK_TREE_H

#include "cancel.h"
#include "profile/tables/arena.h"
#include "text_pair.h"

/* Name of a node that represents frames which are not in the tree, because the
 * stacks have too many frames (../store/select/stack_fold.h). */
#define SP_TREE_OTHER "(other)"

typedef struct sp_tree_function {
  const char *name;
  const char *file;
  int64_t start_line;
} sp_tree_function;

typedef struct sp_tree_line {
  uint32_t function;
  int64_t line;
} sp_tree_line;

/* A location with its lines, innermost first. A location without known names
 * has no lines. */
typedef struct sp_tree_location {
  const sp_tree_line *lines;
  uint32_t line_count;
  uint64_t address;
} sp_tree_location;

/* A node of the tree. nodes[0] is the root, which has no location. Every other
 * node has a higher index than its parent. The children of a node have
 * different locations. */
typedef struct sp_tree_node {
  uint32_t parent;
  uint32_t location;
  int64_t self;  /* sum of the samples whose innermost frame is this node, at
                  * most INT64_MAX */
  int64_t count; /* number of samples in `self`; 0 if the profiles have no
                  * counts */
} sp_tree_node;

/* Sum of the samples with equal stack, series, span and trace. */
typedef struct sp_tree_sample {
  uint32_t node;      /* innermost frame of the stack; 0 for an empty stack */
  uint32_t label_set; /* index of the series' labels */
  uint64_t span_id;   /* 0: none */
  uint64_t trace_hi;  /* both halves 0: no trace */
  uint64_t trace_lo;
  int64_t value;
  int64_t count; /* number of samples: the profiles' counts, or `value` divided
                  * by the period, or the number of stored samples */
} sp_tree_sample;

typedef struct sp_stack_tree {
  sp_arena arena;    /* owns all arrays and texts of the tree */
  sp_cancel *cancel; /* cancels the query; long loops over the nodes check it */
  sp_tree_function *functions;
  sp_tree_location *locations;
  sp_tree_node *nodes;
  size_t function_count;
  size_t location_count;
  size_t node_count;      /* at least 1 */
  uint64_t profile_count; /* number of profiles with selected samples */
  uint64_t folded_count;  /* 0: the tree has all frames. Else an upper bound of
                           * the number of missing frames: a frame counts in
                           * each part of the stacks that contains it */
  bool is_counted;        /* all profiles have sample counts or a period */
  /* Set by sp_store_samples() only. */
  sp_tree_sample *samples;
  sp_text_pairs *label_sets;
  size_t sample_count;
  int64_t begin_ns; /* from the begin of the first to the end of the last
                     * profile; Unix time */
  int64_t end_ns;
} sp_stack_tree;

/* Allocate an array in the tree's arena, with room for `count` + 1 items of
 * `item` bytes each, and store its address in the pointer at `out`. Returns
 * SPANPROF_ERR_NOMEM, or SPANPROF_ERR_LIMIT if the arena is full. */
spanprof_status sp_stack_tree_array(sp_stack_tree *tree, size_t count,
                                    size_t item, void *out);

void sp_stack_tree_free(sp_stack_tree *tree); /* `tree` may be NULL */

#endif
