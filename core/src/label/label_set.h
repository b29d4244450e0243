/* Label sets: immutable, interned nodes that point at their parent, so that a
 * push or a pop moves one number. Nodes live as long as the process; caps bound
 * them. */
#ifndef SP_LABEL_SET_H
#define SP_LABEL_SET_H

#include "util/base.h"

typedef struct sp_label {
  spanprof_text_id name;
  spanprof_text_id value;
} sp_label;

/* The labels of a set, innermost first, hidden ones left out; returns how many
 * (at most `max`). */
size_t sp_label_set_list(spanprof_labels set, sp_label *out, size_t max);

/* The set that is `parent` with name=value, the name in its name form; a value
 * over the name's cap is "[other]", counted. SPANPROF_ERR_NOMEM,
 * SPANPROF_ERR_LIMIT. */
spanprof_status sp_label_set_push_text(spanprof_labels parent,
                                       spanprof_text_id name,
                                       spanprof_text_id value,
                                       spanprof_labels *out);

/* The same of strings, which are cleaned up and counted; *as_given: neither
 * cleaned nor capped. Says what failed. */
spanprof_status sp_label_set_push(spanprof_labels parent, const char *name,
                                  size_t name_bytes, const char *value,
                                  size_t value_bytes, bool *as_given,
                                  spanprof_labels *out);

/* Intern what stands in place of capped values, so that a push of interned
 * texts takes no lock. Where there is no memory it is tried again. */
void sp_label_set_ready(void);

/* Distinct values one name may have before they become "[other]". */
void sp_label_values_max_set(uint32_t max);

#endif
