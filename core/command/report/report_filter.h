/* Which samples a report is about. */
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

/* Everything set has to match. Texts are borrowed. */
typedef struct sp_report_filter {
  bool by_span;
  uint64_t span;         /* where by_span */
  const char *span_name; /* NULL: any */
  bool self;             /* of these spans alone, not of their descendants */
  sp_report_label labels[SP_REPORT_LABELS_MAX];
  size_t label_count;
  sp_pattern focus;  /* a function in the stack, or its file or module */
  sp_pattern ignore; /* none may match */
} sp_report_filter;

/* 16 hex digits in any case, as Pyroscope reads span ids. */
bool sp_span_id_parse(const char *text, uint64_t *out);

/* A sample's span: labels profile_id and span_id, of which Pyroscope takes the
 * last valid one. False: none. */
bool sp_report_sample_span(const sp_pprof_sample *sample, uint64_t *out);

/* A sample's span name: label span_name, or span, as older clients call it.
 * NULL: none. */
const char *sp_report_sample_span_name(const sp_pprof_sample *sample);

/* A label that names an ancestor of the sample's span; *name is "" where it is
 * not told. */
bool sp_report_label_ancestor(const sp_pprof_label *label, uint64_t *id,
                              const char **name);

/* A sample's label: its own, the last one that has a text, or else that of the
 * whole profile. `number` has room for one; NULL: there is none. */
const char *sp_report_label_value(const sp_pprof *profile,
                                  const sp_pprof_sample *sample,
                                  const char *key, char *number, size_t size);

/* By spans and labels; stacks are asked about once their functions are known.
 */
bool sp_report_filter_takes(const sp_report_filter *filter,
                            const sp_pprof *profile,
                            const sp_pprof_sample *sample);

/* Add "key=value". SPANPROF_ERR_ARGUMENT: no key or no `=`;
 * SPANPROF_ERR_LIMIT: too many. */
spanprof_status sp_report_filter_label(sp_report_filter *filter,
                                       const char *text);

#endif
