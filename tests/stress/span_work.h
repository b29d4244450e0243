/* Work whose samples can be checked. There are several kinds of spans, and each
 * kind burns CPU time in a separate function. So a sample whose stack and span
 * disagree is detected. */
#ifndef SPAN_WORK_H
#define SPAN_WORK_H

#include "stress_run.h"

#define SPAN_WORK_KINDS 4

/* Return the name of the spans of a kind, and the name of the function in which
 * they burn CPU time. */
const char *span_work_name(unsigned kind);
const char *span_work_function(unsigned kind);

/* Start a span of a kind. It has the name of its kind, or `name` if that is not
 * NULL. */
spanprof_span span_work_start(const spanprof_span_rules *rules, unsigned kind,
                              const char *name);

/* Burn CPU time in the function of a kind. The function calls `inside` halfway
 * unless that is NULL. */
void span_work_burn(unsigned kind, uint64_t cpu_ns, void (*inside)(void *data),
                    void *data);

typedef struct span_work_totals {
  /* Expect the span of the outermost kind in a stack instead of the innermost
   * kind. */
  bool outermost;
  const char *before; /* the name that spans have before they are renamed */
  uint64_t right;
  uint64_t wrong;
  /* ticks with the right span, which still has the name `before` */
  uint64_t unnamed;
  uint64_t outside; /* ticks without a function of a kind in the stack */
} span_work_totals;

/* Count a sample. This is a tally_sample_fn; its data points to a
 * span_work_totals. */
void span_work_sample(void *totals, const tally_sample *sample);

/* Print the totals. Ends the program if a tick has a wrong span, or if no tick
 * has the right one. */
void span_work_check(const span_work_totals *totals, const char *what);

#endif
