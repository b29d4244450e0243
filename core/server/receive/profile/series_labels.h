/* The labels of a series as they were uploaded, and the rules for them. */
#ifndef SP_SERIES_LABELS_H
#define SP_SERIES_LABELS_H

#include "profile/tables/arena.h"
#include "server/model/limits.h"
#include "server/receive/wire/refusal.h"
#include "util/text/view.h"

#define SP_SERIES_LABEL_NAME_MAX  ((size_t)1024)
#define SP_SERIES_UNKNOWN_SERVICE "unknown_service"

typedef struct sp_series_label {
  sp_view name;
  sp_view value;
} sp_series_label;

typedef struct sp_series_labels {
  const sp_mem *mem;
  sp_series_label *labels;
  size_t count;
  size_t capacity;
} sp_series_labels;

void sp_series_labels_init(sp_series_labels *labels, const sp_mem *mem);
void sp_series_labels_dispose(sp_series_labels *labels);
void sp_series_labels_clear(sp_series_labels *labels);

/* Append a label. The texts are borrowed. Can return SPANPROF_ERR_NOMEM. */
spanprof_status sp_series_labels_add(sp_series_labels *labels, sp_view name,
                                     sp_view value);

/* Returns the value of the first label with this name, or an empty text. */
sp_view sp_series_labels_get(const sp_series_labels *labels, sp_view name);

/* Sort the labels by name, then by value. */
void sp_series_labels_sort(sp_series_labels *labels);

/* Sort the labels. Remove the session id, and all labels of a name that occurs
 * with an empty value. */
void sp_series_labels_drop(sp_series_labels *labels);

/* Returns whether a label with this name is checked but not stored. */
bool sp_series_label_is_own(sp_view name);

/* Append the labels as `{a="b", c="d"}`, for messages. */
void sp_series_labels_print(const sp_series_labels *labels, sp_buffer *out);

/* Check labels, which must be sorted. Refuses labels that violate a rule with
 * SP_REFUSAL_INVALID. */
spanprof_status sp_series_labels_check(const sp_series_labels *labels,
                                       const sp_limits *limits,
                                       sp_refusal *refusal);

#endif
