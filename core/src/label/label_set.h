/* Label sets: immutable, interned nodes with a parent, so that a push or a pop
 * changes one number. Nodes live as long as the process; caps bound their
 * number. */
#ifndef SP_LABEL_SET_H
#define SP_LABEL_SET_H

#include "util/base.h"

typedef struct sp_label {
  spanprof_text_id name;
  spanprof_text_id value;
} sp_label;

/* List the labels of a set, innermost first, without hidden ones. Returns the
 * number of labels (at most `max`). */
size_t sp_label_set_list(spanprof_labels set, sp_label *out, size_t max);

/* Make the set `parent` plus name=value. `name` is a result of
 * sp_text_name_form(). A value beyond the limit of sp_label_values_max_set()
 * becomes "[other]" and is counted. SPANPROF_ERR_NOMEM, SPANPROF_ERR_LIMIT. */
spanprof_status sp_label_set_push_text(spanprof_labels parent,
                                       spanprof_text_id name,
                                       spanprof_text_id value,
                                       spanprof_labels *out);

/* As sp_label_set_push_text(), for strings, which are cleaned; changed labels
 * are counted. *unchanged is set if the label was neither cleaned nor capped.
 * On failure the error message is set. */
spanprof_status sp_label_set_push(spanprof_labels parent, const char *name,
                                  size_t name_bytes, const char *value,
                                  size_t value_bytes, bool *unchanged,
                                  spanprof_labels *out);

/* Intern "[other]", so that pushing interned texts takes no lock. If there is
 * no memory, a later call tries again. */
void sp_label_set_ready(void);

/* Set the number of distinct values that one name may have before further ones
 * become "[other]". */
void sp_label_values_max_set(uint32_t max);

#endif
