/* Merged stacks as a tree: what a selection of profiles adds up to. */
#ifndef SP_STACK_TREE_H
#define SP_STACK_TREE_H

#include "cancel.h"
#include "profile/tables/arena.h"
#include "text_pair.h"

typedef struct sp_tree_function {
  const char *name;
  const char *file;
  int64_t start_line;
} sp_tree_function;

typedef struct sp_tree_line {
  uint32_t function;
  int64_t line;
} sp_tree_line;

/* Its lines innermost first; none where it was never named. */
typedef struct sp_tree_location {
  const sp_tree_line *lines;
  uint32_t line_count;
  uint64_t address;
} sp_tree_location;

/* nodes[0] is the root, without a location; each other one comes after its
 * parent. Of one parent and location there is one node. */
typedef struct sp_tree_node {
  uint32_t parent;
  uint32_t location;
  int64_t self;  /* of the samples whose stack ends here; sums that do not fit
                  * stay at INT64_MAX */
  int64_t count; /* of samples behind `self`, where they are counted */
} sp_tree_node;

/* What equal stacks of one series, span and trace add up to. */
typedef struct sp_tree_sample {
  uint32_t node;      /* where its stack ends; 0: it has none */
  uint32_t label_set; /* of its series */
  uint64_t span_id;   /* 0: none */
  uint64_t trace_hi;  /* both 0: none */
  uint64_t trace_lo;
  int64_t value;
  int64_t count; /* of samples that were taken: as the profiles count them, else
                  * by their periods, else their rows */
} sp_tree_sample;

typedef struct sp_stack_tree {
  sp_arena arena;    /* all below is in it */
  sp_cancel *cancel; /* the query's; checked by long loops over the nodes */
  sp_tree_function *functions;
  sp_tree_location *locations;
  sp_tree_node *nodes;
  size_t function_count;
  size_t location_count;
  size_t node_count;      /* at least 1 */
  uint64_t profile_count; /* that had a part in it */
  bool is_counted; /* each sample's profile counts them, or has a period */
  /* Where samples are told apart. */
  sp_tree_sample *samples;
  sp_text_pairs *label_sets;
  size_t sample_count;
  int64_t begin_ns; /* of the profiles; Unix time */
  int64_t end_ns;
} sp_stack_tree;

void sp_stack_tree_free(sp_stack_tree *tree); /* NULL is fine */

#endif
