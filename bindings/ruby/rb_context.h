/* Flows of control: what each fiber works for, and the thread's context in the
 * core, which is made to show that of the fiber that runs.
 *
 * A fiber has a flow from the first time it works for something of its own. One
 * without has nothing to show, and shows the thread's own context of the core,
 * which nobody in Ruby ever writes: so what a thread or fiber leaves active
 * ends with it. The fiber of an enumerator is different: resuming it is a call,
 * and what is in it works for its caller, unless it is given something itself.
 *
 * Everything here runs with the GVL and in the main Ractor. */
#ifndef RB_CONTEXT_H
#define RB_CONTEXT_H

#include "rb_span.h"

#include <stdbool.h>

typedef struct rb_sp_flow {
  /* Of its fiber, and unique in the process; 0: the flow is free. */
  uint64_t serial;
  VALUE fiber;
  spanprof_context *context; /* made when first needed */
  /* Its own: what it was told to work for; 0: nothing. */
  spanprof_span span;
  spanprof_label_set labels;
  /* What its maker worked for, where flows inherit; shows while `span` is 0. */
  spanprof_span inherited;
  uint8_t trace_id[16]; /* of `span` */
  /* What `context` has in it. */
  spanprof_span shown;
  spanprof_span_token shown_token;
  /* An enumerator's: `caller` (may be NULL: a fiber without a flow) is valid
   * while `called`, and only if its serial still is `caller_serial`. */
  bool callee;
  bool called;
  struct rb_sp_flow *caller;
  uint64_t caller_serial;
  struct rb_sp_flow *next_free;
} rb_sp_flow;

/* Fibers and threads are to be followed while this process is profiled: there
 * is something to show. Idempotent. */
void rb_sp_context_want(void);

/* Whether they are. Else nothing is marked: flows keep their labels, and show
 * none. */
bool rb_sp_context_follows(void);

/* The running fiber's flow; NULL: it has none. */
rb_sp_flow *rb_sp_flow_current(void);

/* The same, made where there is none. May raise NoMemoryError. */
rb_sp_flow *rb_sp_flow_make(void);

/* Have `flow`, the running fiber's, work for `held` (NULL: for nothing of its
 * own). */
void rb_sp_flow_span_set(rb_sp_flow *flow, const rb_sp_span *held);

/* Give `flow`, the running fiber's, a context of its own, whose labels the
 * core's calls show and change until the next set. */
spanprof_status rb_sp_flow_labels_begin(rb_sp_flow *flow);

/* Have `flow`, the running fiber's, carry `labels` (0: none of its own). */
void rb_sp_flow_labels_set(rb_sp_flow *flow, spanprof_label_set labels);

#endif
