/* Label sets: immutable, interned nodes that point at their parent, so that a
 * push or a pop moves one number. Nodes live as long as the process; caps bound
 * them. */
#ifndef SP_LABEL_H
#define SP_LABEL_H

#include "../util/base.h"

typedef struct sp_label {
  spanprof_text name;
  spanprof_text value;
} sp_label;

/* The labels of a set, innermost first, hidden ones left out; returns how many
 * (at most `max`). */
size_t sp_label_set_list(spanprof_label_set set, sp_label *out, size_t max);

/* Distinct values one name may have before they become "[other]". */
void sp_label_values_max_set(uint32_t max);

#endif
