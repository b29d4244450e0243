/* Sums of the samples of a selection, by series, stack, span and trace. */
#ifndef SP_SAMPLE_SUMS_H
#define SP_SAMPLE_SUMS_H

#include "select.h"

typedef struct sp_sample_sums {
  const sp_mem *mem;
  const sp_select *select;
  /* Before sp_sample_sums_place(), `node` is the number of a stack. Before
   * sp_sample_sums_label(), `count` is a sum of sp_sample_part(). `label_set`
   * is the index of an entry. */
  sp_tree_sample *samples;
  size_t count;
  size_t capacity;
  sp_index index;
  int64_t begin_ns;
  int64_t end_ns;
} sp_sample_sums;

/* A stored sample may represent several original samples: as many as its
 * profile states, else its value divided by the period, else one.
 * sp_sample_part() returns the contribution of one stored sample, from its
 * first value. sp_sample_count() rounds the sum of the parts once, so the
 * result does not depend on which samples were merged before. */
int64_t sp_sample_part(const sp_select_entry *entry, const int64_t *values);
int64_t sp_sample_count(const sp_select_entry *entry, int64_t parts);

void sp_sample_sums_dispose(sp_sample_sums *sums);

/* SPANPROF_ERR_LIMIT: too many; SPANPROF_ERR_NOMEM. */
spanprof_status sp_sample_sums_add(sp_sample_sums *sums,
                                   const sp_select_entry *entry, uint32_t stack,
                                   const sp_block *block,
                                   const sp_block_sample *sample);

/* Note the time of a profile that contributed. */
void sp_sample_sums_time(sp_sample_sums *sums, const sp_block_profile *profile);

/* Set the samples' counts and labels. The labels are copied, because those of
 * the entries are freed with the selection. Labels of the profile's type (names
 * that begin with "__") are omitted. */
spanprof_status sp_sample_sums_label(const sp_sample_sums *sums,
                                     sp_stack_tree *tree);

/* Move the samples into the tree; `nodes` is the node of each stack. */
spanprof_status sp_sample_sums_place(const sp_sample_sums *sums,
                                     const uint32_t *nodes,
                                     sp_stack_tree *tree);

#endif
