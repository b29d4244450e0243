/* A report: profiles are added up while they are read, by span name, span and
 * function. Memory grows with the number of distinct names, and with the number
 * of spans up to a limit, but not with the number of profiles. */
#ifndef SP_REPORT_H
#define SP_REPORT_H

#include "command/shared/amount.h"
#include "command/shared/profile_origin.h"
#include "profile/pprof/pprof_reader.h"
#include "profile/tables/name_table.h"
#include "report_comments.h"
#include "report_filter.h"

/* If there are more spans, the smaller half is forgotten: about 60 MB. */
#define SP_REPORT_SPANS_MAX (UINT32_C(1) << 20)

/* If there are more label values, the others are added up as SP_REPORT_OTHER.
 */
#define SP_REPORT_LABEL_VALUES_MAX (UINT32_C(1) << 20)

/* Bits of `found`: the options --focus, --ignore and --peek whose pattern
 * matches the function. */
#define SP_REPORT_FOCUSED 1u
#define SP_REPORT_IGNORED 2u
#define SP_REPORT_PEEKED  4u

typedef struct sp_report_function {
  uint32_t name;
  uint32_t file;  /* source file, or module if the file is unknown; 0: both are
                   * unknown */
  int64_t line;   /* with --lines; 0: unknown */
  unsigned found; /* SP_REPORT_FOCUSED, … */
  uint64_t last_sample;
  sp_amount self;
  sp_amount total;
} sp_report_function;

typedef struct sp_report_span_name {
  uint32_t name;
  uint64_t spans; /* number of forgotten spans of this name; sp_report_rows()
                   * adds the number of the other spans */
  uint64_t last_sample;
  sp_amount self;
  sp_amount total; /* with descendants; a sample counts once even if several of
                    * its spans have this name */
} sp_report_span_name;

typedef struct sp_report_span {
  uint64_t id;
  uint32_t name; /* index of span_names; its latest name */
  uint64_t last_sample;
  sp_amount self;
  sp_amount total; /* with descendants */
} sp_report_span;

typedef struct sp_report_label_row {
  uint32_t key;
  uint32_t value;
  uint64_t last_sample;
  sp_amount amount;
} sp_report_label_row;

/* `stack` is called for each selected sample, with its functions, innermost
 * first. `restart` is called when all sums are discarded. */
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
  const char *type;     /* NULL: cpu, else the first profile's default */
  const char *group_by; /* a label; NULL: none */
  bool all_labels;      /* add up the values of every label */
  bool lines;           /* distinguish the lines of a function */
  sp_pattern peek;      /* functions to find */
} sp_report_options;

typedef struct sp_report {
  /* Fixed after sp_report_init(). */
  const sp_mem *mem;
  const sp_report_options *options;
  sp_report_listener listener;
  uint32_t spans_max;
  uint32_t label_values_max;
  /* Sums. */
  sp_name_table names;
  char *type; /* of the first profile; NULL before the first one */
  char *unit;
  bool type_fixed; /* the type cannot change any more, because values of this
                    * type were printed already */
  uint64_t profiles;
  uint64_t start_ns; /* Unix time; 0: unknown */
  uint64_t end_ns;
  sp_amount all;      /* all samples */
  sp_amount selected; /* samples that match the filter */
  uint64_t samples;   /* number of the current sample, from 1; compared with
                       * last_sample */
  uint64_t forgotten_spans;
  /* The span names of the current sample, each once. */
  uint32_t *sample_names;
  size_t sample_name_count;
  size_t sample_name_capacity;
  bool any_span;
  bool any_ancestor; /* a sample names an ancestor; if false, total and self of
                      * each span are equal */
  sp_report_function *functions;
  size_t function_count;
  size_t function_capacity;
  sp_index function_index;
  sp_report_span_name *span_names; /* [0]: samples without a span */
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
  uint32_t *stack; /* temporary */
  size_t stack_capacity;
} sp_report;

/* SPANPROF_ERR_NOMEM: the report need not be disposed of. */
spanprof_status sp_report_init(sp_report *report, const sp_mem *mem,
                               const sp_report_options *options);
void sp_report_dispose(sp_report *report);

/* Discard all sums. SPANPROF_ERR_NOMEM: the report need not be disposed of. */
spanprof_status sp_report_restart(sp_report *report);

/* Add one profile. Times are added up in nanoseconds, whatever the profile's
 * unit is. `origin` may be NULL. SPANPROF_ERR_UNSUPPORTED, with a sentence: the
 * profile does not have the report's type; nothing was added.
 * SPANPROF_ERR_NOMEM, SPANPROF_ERR_LIMIT: a part of it may have been added. */
spanprof_status sp_report_add(sp_report *report, const sp_pprof *profile,
                              const sp_profile_origin *origin);

#endif
