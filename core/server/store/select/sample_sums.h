/* Sums of the selected samples, by series, stack, span and trace. */
#ifndef SP_SAMPLE_SUMS_H
#define SP_SAMPLE_SUMS_H

#include "select.h"

typedef struct sp_sample_sums {
  const sp_mem *mem;
  const sp_select *select;
  /* `label_set` is the index of an entry of `select`. `node` is the number of a
   * stack until sp_sample_sums_place(), and `count` is a sum of
   * sp_sample_part() until sp_sample_sums_label(). */
  sp_tree_sample *samples;
  size_t count;
  size_t capacity;
  sp_index index;
  int64_t begin_ns;
  int64_t end_ns;
} sp_sample_sums;

/* A stored sample may represent several original samples. Their number is the
 * value of the type that counts samples, or else the sample's value divided by
 * the period, or else one. sp_sample_part() returns what one stored sample,
 * with these values, adds to a sum of parts. sp_sample_count() rounds the sum
 * of the parts once, so the result does not depend on which samples were merged
 * before. */
int64_t sp_sample_part(const sp_select_entry *entry, const int64_t *values);
int64_t sp_sample_count(const sp_select_entry *entry, int64_t parts);

void sp_sample_sums_clear(sp_sample_sums *sums); /* keeps the memory */
void sp_sample_sums_dispose(sp_sample_sums *sums);

/* Add a sample to its sum. Returns SPANPROF_ERR_LIMIT if there are too many
 * sums, or SPANPROF_ERR_NOMEM. */
spanprof_status sp_sample_sums_add(sp_sample_sums *sums,
                                   const sp_select_entry *entry, uint32_t stack,
                                   const sp_block *block,
                                   const sp_block_sample *sample);

/* Extend the range from begin_ns to end_ns so that it includes the time of a
 * profile with selected samples. */
void sp_sample_sums_time(sp_sample_sums *sums, const sp_block_profile *profile);

/* Set the tree's label sets, and the samples' counts. The labels are copied,
 * because the entries are freed with `select`. Labels that describe the
 * profile's type (names that begin with "__") are omitted. */
spanprof_status sp_sample_sums_label(const sp_sample_sums *sums,
                                     sp_stack_tree *tree);

/* Move the samples into the tree; `nodes` is the node of each stack. */
spanprof_status sp_sample_sums_place(const sp_sample_sums *sums,
                                     const uint32_t *nodes,
                                     sp_stack_tree *tree);

#endif
