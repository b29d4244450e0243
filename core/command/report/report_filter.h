/* Selects the samples of a report. */
#ifndef SP_REPORT_FILTER_H
#define SP_REPORT_FILTER_H

#include "command/shared/pattern.h"
#include "profile/pprof/pprof_reader.h"

#define SP_REPORT_LABELS_MAX 32

typedef struct sp_report_label {
  const char *key;
  size_t key_bytes;
  const char *value;
} sp_report_label;

/* All members that are set must match. Texts are borrowed. */
typedef struct sp_report_filter {
  bool by_span;
  uint64_t span;         /* if by_span */
  const char *span_name; /* NULL: any */
  bool self;             /* only these spans, without their descendants */
  sp_report_label labels[SP_REPORT_LABELS_MAX];
  size_t label_count;
  sp_pattern focus;  /* must match a function in the stack, or its file or
                      * module */
  sp_pattern ignore; /* must match none of these */
} sp_report_filter;

/* Parse 16 hex digits in upper or lower case, as Pyroscope does for span ids.
 */
bool sp_span_id_parse(const char *text, uint64_t *out);

/* Get a sample's span from the labels profile_id and span_id. Like Pyroscope,
 * use the last valid one. Returns false if there is none. */
bool sp_report_sample_span(const sp_pprof_sample *sample, uint64_t *out);

/* Returns a sample's span name: label span_name, or the label "span" of older
 * clients. NULL: none. */
const char *sp_report_sample_span_name(const sp_pprof_sample *sample);

/* Get the ancestor of the sample's span that a label names. *name is "" if it
 * is unknown. Returns false if the label is not about an ancestor. */
bool sp_report_label_ancestor(const sp_pprof_label *label, uint64_t *id,
                              const char **name);

/* Returns the value of a label: the sample's last label with this key and a
 * value, or else the label of the whole profile, or else NULL. `number` is a
 * buffer for a numeric value. */
const char *sp_report_label_value(const sp_pprof *profile,
                                  const sp_pprof_sample *sample,
                                  const char *key, char *number, size_t size);

/* Match spans and labels. Stacks are matched later, when their functions are
 * known. */
bool sp_report_filter_matches(const sp_report_filter *filter,
                              const sp_pprof *profile,
                              const sp_pprof_sample *sample);

/* Add "key=value". SPANPROF_ERR_ARGUMENT: no key or no `=`. SPANPROF_ERR_LIMIT:
 * too many. */
spanprof_status sp_report_filter_label(sp_report_filter *filter,
                                       const char *text);

#endif
