/* Label sets. A set is an immutable, interned node: one label and a parent set.
 * So a push or a pop only changes one number, that of the thread's set. Nodes
 * live as long as the process; limits bound their number. */
#ifndef SP_LABEL_SET_H
#define SP_LABEL_SET_H

#include "util/base.h"

typedef struct sp_label {
  spanprof_text_id name;
  spanprof_text_id value;
} sp_label;

/* List the labels of a set that no inner label hides, innermost first. Returns
 * the number of labels, at most `max`. */
size_t sp_label_set_list(spanprof_labels set, sp_label *out, size_t max);

/* Make the set `parent` plus name=value. `name` is a result of
 * sp_text_name_form(). A value beyond the limit of sp_label_values_max_set()
 * becomes "[other]" and is counted. Returns SPANPROF_ERR_NOMEM, or
 * SPANPROF_ERR_LIMIT if there are too many sets or the set is too deep. */
spanprof_status sp_label_set_push_text(spanprof_labels parent,
                                       spanprof_text_id name,
                                       spanprof_text_id value,
                                       spanprof_labels *out);

/* Make the set `parent` plus name=value as sp_label_set_push_text() does, but
 * from strings. The strings are cleaned, and changed labels are counted.
 * *unchanged is set if the label was neither cleaned nor replaced by "[other]".
 * If the function fails, it sets the last error. */
spanprof_status sp_label_set_push(spanprof_labels parent, const char *name,
                                  size_t name_bytes, const char *value,
                                  size_t value_bytes, bool *unchanged,
                                  spanprof_labels *out);

/* Intern "[other]", so that a push of interned texts takes no lock. If there is
 * no memory, a later call of this function tries again. */
void sp_label_set_ready(void);

/* Set the maximum number of distinct values of one name. Further values become
 * "[other]". */
void sp_label_values_max_set(uint32_t max);

#endif
