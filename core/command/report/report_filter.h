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

/* A sample must match all members that are set. The caller keeps the texts. */
typedef struct sp_report_filter {
  bool by_span;
  uint64_t span;         /* id of the span, if by_span is set */
  const char *span_name; /* NULL: any span */
  bool self;             /* only these spans, without their descendants */
  sp_report_label labels[SP_REPORT_LABELS_MAX];
  size_t label_count;
  sp_pattern focus;  /* must match a function of the stack, its file or its
                      * module */
  sp_pattern ignore; /* must not match any function of the stack, its file or
                      * its module */
} sp_report_filter;

/* Parse a span id: 16 hex digits in upper or lower case, which Pyroscope
 * accepts, too. Returns false if the text is no span id. */
bool sp_span_id_parse(const char *text, uint64_t *out);

/* Get the id of a sample's span from the labels profile_id and span_id. If
 * there are several valid ids, the last one counts, as in Pyroscope. Returns
 * false if there is none. */
bool sp_report_sample_span(const sp_pprof_sample *sample, uint64_t *out);

/* Returns a sample's span name from the label span_name, or from the label
 * "span", which older clients write. Returns NULL if there is neither. */
const char *sp_report_sample_span_name(const sp_pprof_sample *sample);

/* If the label names an ancestor of the sample's span, get the id and the name
 * of the ancestor; *name is "" if the name is unknown. Otherwise return false.
 */
bool sp_report_label_ancestor(const sp_pprof_label *label, uint64_t *id,
                              const char **name);

/* Returns the value of the label `key`: that of the sample's last label with
 * this key and a value, or that of the label of the whole profile, or NULL.
 * `number` is memory of `size` bytes for the text of a numeric value. */
const char *sp_report_label_value(const sp_pprof *profile,
                                  const sp_pprof_sample *sample,
                                  const char *key, char *number, size_t size);

/* Returns whether the span and the labels of a sample match. Use
 * sp_report_functions_match() for its stack. */
bool sp_report_filter_matches(const sp_report_filter *filter,
                              const sp_pprof *profile,
                              const sp_pprof_sample *sample);

/* Add the label "key=value" to the filter. Returns SPANPROF_ERR_ARGUMENT if
 * `text` has no key or no `=`, and SPANPROF_ERR_LIMIT if the filter has
 * SP_REPORT_LABELS_MAX labels already. */
spanprof_status sp_report_filter_label(sp_report_filter *filter,
                                       const char *text);

#endif
