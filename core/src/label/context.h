/* What a flow of control works for: its labels and its stack of active spans,
 * and the per-thread record through which the signal handler finds them.
 *
 * Protocol: a context is written only by the thread that is in it, and read in
 * the signal handler on that thread, or by the sweep of ended spans (which
 * takes a torn read for "still active"). So plain stores in the right order are
 * enough: a span is stored before the depth that makes it visible. Memory of
 * contexts and selves is never unmapped. */
#ifndef SP_CONTEXT_H
#define SP_CONTEXT_H

#include "../util/base.h"

#define SP_SPAN_DEPTH 64

typedef struct sp_active_span {
  spanprof_span carried; /* whose id samples carry; 0: none */
  spanprof_span span;    /* the one that was entered */
} sp_active_span;

struct spanprof_context {
  /* Written by the thread in the context, read in its handler. */
  _Atomic spanprof_label_set labels;
  _Atomic uint32_t depth; /* may exceed SP_SPAN_DEPTH */
  sp_active_span spans[SP_SPAN_DEPTH];
  /* Guarded by the list's lock. */
  struct spanprof_context *next;
};

/* One attached thread. */
typedef struct sp_self {
  /* Written by the thread itself, read in its handler. */
  _Atomic(spanprof_context *) context;
  void *_Atomic thread_data; /* spanprof_thread_set_data() */
  spanprof_context own;
  /* Of the sampler: its record of this thread. */
  void *thread;
  int tid;
} sp_self;

/* What happens when a thread attaches or ends; set once, by the sampler. */
typedef struct sp_self_hooks {
  void (*attached)(sp_self *self);
  void (*ending)(sp_self *self); /* on the thread, before `self` is reused */
} sp_self_hooks;

void sp_self_hooks_set(const sp_self_hooks *hooks);

/* The calling thread's record, or NULL. */
SP_SIGNAL_SAFE sp_self *sp_self_current(void);

/* The calling thread's record, made where there is none. NULL: no memory. A
 * pthread key ends it with the thread. */
sp_self *sp_self_attach(void);

/* Call hooks->attached for every thread that attached before the hooks were
 * set, or whose `thread` is NULL. */
void sp_self_each(void (*visit)(sp_self *self));

/* What a sample carries. `last_span` is the span active last, also after its
 * leave: ticks booked at a thread's end belong to it. */
SP_SIGNAL_SAFE void sp_context_read(const sp_self *self,
                                    spanprof_label_set *labels,
                                    spanprof_span *carried);
SP_SIGNAL_SAFE spanprof_span sp_context_last_span(const sp_self *self);

/* Fork, for the whole room (texts, labels, contexts, spans): locks are taken
 * before and given back after; in the child only the forking thread is
 * left. */
void sp_label_before_fork(void);
void sp_label_after_fork_parent(void);
void sp_label_after_fork_child(void);

#endif
