/* Work that shows its span: each kind of span burns in a function of its own,
 * so that a sample whose stack and span disagree is seen. */
#ifndef SPAN_WORK_H
#define SPAN_WORK_H

#include "stress_run.h"

#define SPAN_WORK_KINDS 4

/* The name of a kind's span, and of the function it burns in. */
const char *span_work_name(unsigned kind);
const char *span_work_function(unsigned kind);

/* Start a span of a kind under its name, or under `name` unless NULL. */
spanprof_span span_work_start(const spanprof_span_rules *rules, unsigned kind,
                              const char *name);

/* Burn in the kind's function, which calls `inside` (may be NULL) half-way. */
void span_work_burn(unsigned kind, uint64_t cpu_ns, void (*inside)(void *data),
                    void *data);

typedef struct span_work_totals {
  bool outermost;     /* the outermost kind in a stack names it; else the
                       * innermost */
  const char *before; /* a name that spans have before they are renamed */
  uint64_t right;
  uint64_t wrong;
  uint64_t unnamed; /* the right span, still called `before` */
  uint64_t outside; /* no kind's function in the stack */
} span_work_totals;

/* The tally_sample_fn whose data is a span_work_totals. */
void span_work_sample(void *totals, const tally_sample *sample);

/* Print, and fail the program on a wrong span or on no right one. */
void span_work_check(const span_work_totals *totals, const char *what);

#endif
