/* Work that can be checked against its span: each kind of span burns CPU in a
 * function of its own, so that a sample whose stack and span disagree is
 * detected. */
#ifndef SPAN_WORK_H
#define SPAN_WORK_H

#include "stress_run.h"

#define SPAN_WORK_KINDS 4

/* The name of a kind's span, and of the function in which it burns. */
const char *span_work_name(unsigned kind);
const char *span_work_function(unsigned kind);

/* Start a span of a kind, with its own name or with `name` if that is not
 * NULL. */
spanprof_span span_work_start(const spanprof_span_rules *rules, unsigned kind,
                              const char *name);

/* Burn in the kind's function, which calls `inside` (may be NULL) halfway. */
void span_work_burn(unsigned kind, uint64_t cpu_ns, void (*inside)(void *data),
                    void *data);

typedef struct span_work_totals {
  /* Expect the outermost kind in a stack, not the innermost. */
  bool outermost;
  const char *before; /* the name of spans before they are renamed */
  uint64_t right;
  uint64_t wrong;
  uint64_t unnamed; /* the right span, still named `before` */
  uint64_t outside; /* no kind's function in the stack */
} span_work_totals;

/* A tally_sample_fn whose data is a span_work_totals. */
void span_work_sample(void *totals, const tally_sample *sample);

/* Print the totals. Fails the program on a wrong span, or if there is no right
 * one. */
void span_work_check(const span_work_totals *totals, const char *what);

#endif
