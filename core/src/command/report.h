/* What profiles say, added up while they are read: values by span name, by
 * span and by function. Memory grows with distinct names, and with spans up to
 * a cap, not with profiles. */
#ifndef SP_REPORT_H
#define SP_REPORT_H

#include "../profile/name_table.h"
#include "../profile/pprof_reader.h"
#include "report_filter.h"

/* Past so many spans the smaller half is forgotten: about 60 MB. */
#define SP_REPORT_SPANS_MAX (UINT32_C(1) << 20)

typedef struct sp_report_function {
  uint32_t name;
  uint32_t file; /* else its module; 0: neither is known */
  uint64_t last_sample;
  int64_t self;
  int64_t total;
} sp_report_function;

typedef struct sp_report_span_name {
  uint32_t name;
  uint64_t spans; /* forgotten ones; the others are counted at the end */
  uint64_t last_sample;
  int64_t self;
  int64_t total; /* with descendants, each sample once */
} sp_report_span_name;

typedef struct sp_report_span {
  uint64_t id;
  uint32_t name; /* index of span_names; the last one it had */
  uint64_t last_sample;
  int64_t self;
  int64_t total; /* with descendants */
} sp_report_span;

/* Called for each sample taken, with its functions, innermost first. */
typedef struct sp_report_listener {
  spanprof_status (*stack)(void *data, const uint32_t *functions, size_t count,
                           int64_t value);
  void *data;
} sp_report_listener;

typedef struct sp_report {
  /* Fixed after sp_report_init(). */
  const sp_mem *mem;
  const sp_report_filter *filter;
  const char *wanted_type; /* NULL: cpu, else the profile's default */
  sp_report_listener listener;
  uint32_t spans_max;
  /* Added up. */
  sp_name_table names;
  char *type; /* of the first profile; NULL before */
  char *unit;
  uint64_t profiles;
  uint64_t start_ns; /* Unix time; 0: unknown */
  uint64_t end_ns;
  int64_t all;   /* of all samples */
  int64_t taken; /* of those the filter takes */
  uint64_t samples;
  uint64_t forgotten_spans;
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
  uint32_t *stack; /* scratch */
  size_t stack_capacity;
} sp_report;

/* `filter` and `wanted_type` outlive the report. SPANPROF_ERR_NOMEM: nothing
 * to dispose. */
spanprof_status sp_report_init(sp_report *report, const sp_mem *mem,
                               const sp_report_filter *filter,
                               const char *wanted_type);
void sp_report_dispose(sp_report *report);

/* Add one profile. Times are added up in nanoseconds, whatever the profile's
 * unit. SPANPROF_ERR_UNSUPPORTED: its type is not the report's, said in a
 * sentence; nothing was added. SPANPROF_ERR_NOMEM, SPANPROF_ERR_LIMIT: part of
 * it may have been. */
spanprof_status sp_report_add(sp_report *report, const sp_pprof *profile);

/* Saturating: profiles of others may hold anything. */
int64_t sp_report_sum(int64_t a, int64_t b);

#endif
