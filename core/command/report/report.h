/* What profiles say, added up while they are read: values by span name, by
 * span and by function. Memory grows with distinct names, and with spans up to
 * a cap, not with profiles. */
#ifndef SP_REPORT_H
#define SP_REPORT_H

#include "command/shared/amount.h"
#include "command/shared/profile_origin.h"
#include "profile/pprof/pprof_reader.h"
#include "profile/tables/name_table.h"
#include "report_comments.h"
#include "report_filter.h"

/* Past so many spans the smaller half is forgotten: about 60 MB. */
#define SP_REPORT_SPANS_MAX (UINT32_C(1) << 20)

/* Past so many label values the others are one, SP_REPORT_OTHER. */
#define SP_REPORT_LABEL_VALUES_MAX (UINT32_C(1) << 20)

/* What a function's name, or a function, was found by. */
#define SP_REPORT_FOCUSED 1u
#define SP_REPORT_IGNORED 2u
#define SP_REPORT_PEEKED  4u

typedef struct sp_report_function {
  uint32_t name;
  uint32_t file;  /* else its module; 0: neither is known */
  int64_t line;   /* where functions are told apart by lines; 0: unknown */
  unsigned found; /* SP_REPORT_FOCUSED, … */
  uint64_t last_sample;
  sp_amount self;
  sp_amount total;
} sp_report_function;

typedef struct sp_report_span_name {
  uint32_t name;
  uint64_t spans; /* forgotten ones; the others are counted at the end */
  uint64_t last_sample;
  sp_amount self;
  sp_amount total; /* with descendants, each sample once */
} sp_report_span_name;

typedef struct sp_report_span {
  uint64_t id;
  uint32_t name; /* index of span_names; the last one it had */
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

/* Called for each sample taken, with its functions, innermost first; and when
 * all that was added so far is forgotten. */
typedef struct sp_report_listener {
  spanprof_status (*stack)(void *data, const uint32_t *functions, size_t count,
                           const sp_amount *amount);
  void (*restart)(void *data);
  void *data;
} sp_report_listener;

/* What is asked for. Outlives the report, as what it points to. */
typedef struct sp_report_options {
  sp_report_filter filter;
  const char *type;     /* NULL: cpu, else the first profile's default */
  const char *group_by; /* a label; NULL: none */
  bool all_labels;      /* add up every label's values */
  bool lines;           /* tell lines of a function apart */
  sp_pattern peek;      /* functions to be found */
} sp_report_options;

typedef struct sp_report {
  /* Fixed after sp_report_init(). */
  const sp_mem *mem;
  const sp_report_options *options;
  sp_report_listener listener;
  uint32_t spans_max;
  uint32_t label_values_max;
  /* Added up. */
  sp_name_table names;
  char *type; /* of the first profile; NULL before */
  char *unit;
  bool type_fixed; /* something of it was written */
  uint64_t profiles;
  uint64_t start_ns; /* Unix time; 0: unknown */
  uint64_t end_ns;
  sp_amount all;    /* of all samples */
  sp_amount taken;  /* of those the filter takes */
  uint64_t samples; /* number of the one being added */
  uint64_t forgotten_spans;
  /* Of the sample being added: its span names, each once. */
  uint32_t *sample_names;
  size_t sample_name_count;
  size_t sample_name_capacity;
  bool any_span;
  bool any_ancestor; /* else total and self of all spans are the same */
  sp_report_function *functions;
  size_t function_count;
  size_t function_capacity;
  sp_index function_index;
  sp_report_span_name *span_names; /* [0]: no span at all */
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
  uint32_t *stack; /* scratch */
  size_t stack_capacity;
} sp_report;

/* SPANPROF_ERR_NOMEM: nothing to dispose. */
spanprof_status sp_report_init(sp_report *report, const sp_mem *mem,
                               const sp_report_options *options);
void sp_report_dispose(sp_report *report);

/* Forget what was added. SPANPROF_ERR_NOMEM: nothing to dispose. */
spanprof_status sp_report_restart(sp_report *report);

/* Add one profile. Times are added up in nanoseconds, whatever the profile's
 * unit. `origin` may be NULL. SPANPROF_ERR_UNSUPPORTED: its type is not the
 * report's, said in a sentence; nothing was added. SPANPROF_ERR_NOMEM,
 * SPANPROF_ERR_LIMIT: part of it may have been. */
spanprof_status sp_report_add(sp_report *report, const sp_pprof *profile,
                              const sp_profile_origin *origin);

#endif
