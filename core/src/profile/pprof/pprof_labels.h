/* Writes the labels of a sample: the labels of its label list (label_table.h),
 * the labels of its span, and one label for each sampled local ancestor of the
 * span. The labels of ancestors allow a reader to add the samples of a span to
 * its ancestors.
 *
 * An ancestor is a numeric label: the key is "ancestor:" and the span's name,
 * the value is the span's id as a number. Pyroscope drops numeric labels before
 * any other processing (grafana/pyroscope 3fe6a457a, pkg/pprof/pprof.go,
 * Profile.Normalize), so they create no series there. Readers of pprof show
 * them. */
#ifndef SP_PPROF_LABELS_H
#define SP_PPROF_LABELS_H

#include "pprof_part.h"
#include "profile/tables/label_table.h"
#include "profile/tables/pprof_limits.h"

/* Maximum number of labels of a sample, including profile_id or span_id,
 * span_name and trace_id. */
#define SP_PPROF_SAMPLE_LABELS_MAX \
  (SP_PPROF_LABELS_MAX + 3 + SP_SPAN_ANCESTORS_MAX)

/* A span and its texts. Unless noted, the number of a text is its index in the
 * string table of the pprof part that is being written. */
typedef struct sp_pprof_span {
  spanprof_span span;
  int64_t profile_id; /* 0: the span is unknown */
  uint32_t id_key;    /* number in `names` */
  int64_t trace_id;   /* 0: no trace id */
  int64_t name;       /* 0: no name */
  uint32_t name_key;  /* number in `names` */
  uint32_t name_text; /* number in `names` */
  /* Key and value of the label that marks samples of the span's descendants. */
  int64_t ancestor_key; /* 0: not determined yet */
  int64_t id;
  spanprof_span parent; /* 0: no parent */
  uint32_t parent_at;   /* index in `spans` + 1; 0: not looked up yet */
} sp_pprof_span;

typedef struct sp_pprof_labels {
  const sp_mem *mem;
  sp_name_table *names;
  const sp_label_table *lists;
  uint32_t key_profile_id; /* number in `names` */
  uint32_t key_span_id;
  uint32_t key_trace_id;
  sp_pprof_span *spans; /* spans in the current part */
  size_t span_count;
  size_t span_capacity;
  sp_index span_index;
  /* The labels of the last sample, and pointers to them. */
  Perftools__Profiles__Label labels[SP_PPROF_SAMPLE_LABELS_MAX];
  Perftools__Profiles__Label *pointers[SP_PPROF_SAMPLE_LABELS_MAX];
} sp_pprof_labels;

/* `names` and `lists` outlive the result. After SPANPROF_ERR_NOMEM there is
 * nothing to dispose of. */
spanprof_status sp_pprof_labels_init(sp_pprof_labels *labels, const sp_mem *mem,
                                     sp_name_table *names,
                                     const sp_label_table *lists);
void sp_pprof_labels_dispose(sp_pprof_labels *labels);

/* Forget the spans of the previous pprof part, because text numbers are valid
 * in one part only. */
void sp_pprof_labels_begin(sp_pprof_labels *labels);

/* Set `labels->pointers` and *count to the labels of a sample. The span's
 * labels replace labels of `list` that have the same names. A label "span_id"
 * in `list` is dropped, because the server would interpret it as the span's id.
 * Returns SPANPROF_ERR_NOMEM if there is no memory. */
spanprof_status sp_pprof_labels_fill(sp_pprof_labels *labels,
                                     sp_pprof_part *part, uint32_t list,
                                     spanprof_span span, size_t *count);

#endif
