/* A report: the sums of profiles by span name, span, function and label value.
 * Profiles are added up while they are read, so memory grows with the number of
 * distinct names and, up to a limit, of spans, but not with the number of
 * profiles. */
#ifndef SP_REPORT_H
#define SP_REPORT_H

#include "command/shared/amount.h"
#include "command/shared/code_place.h"
#include "command/shared/profile_origin.h"
#include "profile/pprof/pprof_reader.h"
#include "profile/tables/name_table.h"
#include "report_comments.h"
#include "report_filter.h"

/* Largest number of spans in memory, about 60 MB. If there are more, the half
 * with the smaller totals is forgotten. */
#define SP_REPORT_SPANS_MAX (UINT32_C(1) << 20)

/* Largest number of label values. If there are more, the others are added up as
 * the value SP_REPORT_OTHER. */
#define SP_REPORT_LABEL_VALUES_MAX (UINT32_C(1) << 20)

/* Bits of `found`: a bit is set if the pattern of --focus, --ignore or --peek
 * matches the function. */
#define SP_REPORT_FOCUSED 1u
#define SP_REPORT_IGNORED 2u
#define SP_REPORT_PEEKED  4u

typedef struct sp_report_function {
  uint32_t name;
  uint32_t file;     /* name of the source file, or of the module if the file is
                      * unknown; 0: both are unknown */
  int64_t line;      /* with --lines: the line in the file; 0: unknown */
  unsigned found;    /* bits SP_REPORT_FOCUSED, … */
  sp_code_kind kind; /* of `file` */
  uint64_t last_sample;
  sp_amount self;
  sp_amount total;
} sp_report_function;

typedef struct sp_report_span_name {
  uint32_t name;
  uint64_t spans; /* number of forgotten spans of this name; sp_report_rows()
                   * adds the number of spans in memory */
  uint64_t last_sample;
  sp_amount self;
  sp_amount total; /* includes descendants; a sample counts once even if several
                    * of its spans have this name */
} sp_report_span_name;

typedef struct sp_report_span {
  uint64_t id;
  uint32_t name; /* index in span_names of its latest name */
  uint64_t last_sample;
  sp_amount self;
  sp_amount total; /* includes descendants */
} sp_report_span;

typedef struct sp_report_label_row {
  uint32_t key;
  uint32_t value;
  uint64_t last_sample;
  sp_amount amount;
} sp_report_label_row;

/* Functions that a report calls. `stack` is called for each selected sample,
 * with the indexes of its functions in report->functions, innermost first.
 * `restart` is called when the report discards all its sums. */
typedef struct sp_report_listener {
  spanprof_status (*stack)(void *data, const uint32_t *functions, size_t count,
                           const sp_amount *amount);
  void (*restart)(void *data);
  void *data;
} sp_report_listener;

/* The options of a report. The options and the memory that they refer to must
 * exist as long as the report. */
typedef struct sp_report_options {
  sp_report_filter filter;
  const char *type; /* NULL: cpu, or the first profile's default type if it has
                     * no cpu */
  const char *group_by; /* the label of --group-by; NULL: none */
  bool all_labels;      /* add up the values of every label */
  bool lines;           /* count each line of a function separately */
  bool mine;            /* only functions of the application's own files */
  sp_pattern peek;      /* functions of --peek */
} sp_report_options;

typedef struct sp_report {
  /* These members do not change after sp_report_init(). */
  const sp_mem *mem;
  const sp_report_options *options;
  sp_report_listener listener;
  uint32_t spans_max;
  uint32_t label_values_max;
  /* Sums. */
  sp_name_table names;
  char *type; /* name of the value type; NULL before the first profile */
  char *unit;
  bool type_fixed; /* the type cannot change any more, because values of this
                    * type were printed already */
  uint64_t profiles;
  uint64_t start_ns; /* Unix time; 0: unknown */
  uint64_t end_ns;
  sp_amount all;      /* all samples */
  sp_amount selected; /* samples that match the filter */
  /* Number of the current sample, from 1. An item has counted the sample
   * already if its `last_sample` is this number. */
  uint64_t samples;
  uint64_t forgotten_spans;
  /* The span names of the current sample, each once. */
  uint32_t *sample_names;
  size_t sample_name_count;
  size_t sample_name_capacity;
  bool any_span;
  bool any_ancestor; /* a sample names an ancestor of its span; if false, total
                      * and self of each span are equal */
  sp_code_rules code_rules;
  sp_code_folder code_folder; /* contains the application's own files */
  uint8_t *file_kinds; /* for each name that is a file: 1 + its sp_code_kind; 0:
                        * not known yet */
  size_t file_kind_count;
  size_t file_kind_capacity;
  sp_report_function *functions;
  size_t function_count;
  size_t function_capacity;
  sp_index function_index;
  sp_report_span_name *span_names; /* [0] is for samples without a span */
  size_t span_name_count;
  size_t span_name_capacity;
  sp_index span_name_index;
  sp_report_span *spans;
  size_t span_count;
  size_t span_capacity;
  sp_index span_index;
  sp_report_label_row *labels;
  size_t label_count;
  size_t label_capacity;
  sp_index label_index;
  sp_report_comments comments;
  uint32_t *stack; /* functions of the current sample */
  size_t stack_capacity;
} sp_report;

/* Returns SPANPROF_ERR_NOMEM if memory ran out; the report need not be disposed
 * of then. */
spanprof_status sp_report_init(sp_report *report, const sp_mem *mem,
                               const sp_report_options *options);
void sp_report_dispose(sp_report *report);

/* Discard all sums. Returns SPANPROF_ERR_NOMEM if memory ran out; the report
 * need not be disposed of then. */
spanprof_status sp_report_restart(sp_report *report);

/* Add one profile. Values of time are converted to nanoseconds. `origin` may be
 * NULL. Returns SPANPROF_ERR_UNSUPPORTED if the profile does not have the
 * report's type in the report's unit; nothing was added. Returns
 * SPANPROF_ERR_NOMEM or SPANPROF_ERR_LIMIT if memory or a limit is exhausted; a
 * part of the profile may have been added. A failure sets the error message. */
spanprof_status sp_report_add(sp_report *report, const sp_pprof *profile,
                              const sp_profile_origin *origin);

#endif
