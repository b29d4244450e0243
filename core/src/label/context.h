/* What a thread, or a fiber, works for: its labels and its stack of active
 * spans, and the per-thread record through which the signal handler finds them.
 *
 * Protocol: a context is written only by the thread that is in it, and read in
 * the signal handler on that thread, or by the sweep of ended spans (which
 * takes a torn read for "still active"). So relaxed stores in the right order
 * are enough: a span is stored before the depth that makes it visible. Memory
 * of contexts and selves is never unmapped; that of contexts which are free may
 * be given back, and reads as zero then, as one without labels and spans. */
#ifndef SP_CONTEXT_H
#define SP_CONTEXT_H

#include "label_cache.h"

#define SP_SPAN_DEPTH 64

typedef struct sp_active_span {
  _Atomic spanprof_span carried; /* whose id samples carry; 0: none */
  _Atomic spanprof_span span;    /* the one that was entered */
} sp_active_span;

struct sp_self;

struct spanprof_context {
  /* Written by the thread in the context, read in its handler. */
  _Atomic spanprof_labels labels;
  _Atomic uint32_t depth;  /* of spans, at most SP_SPAN_DEPTH */
  _Atomic uint32_t serial; /* of the last enter */
  /* Fixed while the context is in use; tells tokens of contexts apart. */
  uint32_t number;
  /* Written by the thread that switches to it and away, read by the free. */
  _Atomic(struct sp_self *) user;
  /* A thread's own context only: labels, span and mark of the thread's last
   * sample, or of the last scope that it left since. Written by the thread and
   * its signal handler.
   */
  _Atomic spanprof_labels last_labels;
  _Atomic spanprof_span last_span;
  _Atomic spanprof_mark last_mark;
  /* That it is in; NULL: a thread's own. Guarded by the list's lock. */
  struct sp_context_slab *slab;
  /* As the first group. */
  _Atomic spanprof_mark mark; /* of its recording; 0: none */
  sp_active_span spans[SP_SPAN_DEPTH];
  _Atomic uint32_t serials[SP_SPAN_DEPTH];
};

/* One attached thread. */
typedef struct sp_self {
  /* Written by the thread itself (context: also by spanprof_context_free()),
   * read in its handler. */
  _Atomic(spanprof_context *) context;
  void *_Atomic thread_data; /* spanprof_thread_set_data() */
  /* Of the sampler: its record of this thread. */
  void *thread;
  int tid;         /* set when it attaches, and in a forked child */
  int signal_open; /* the signal it let through when it registered; or 0 */
  /* Guarded by the list's lock. */
  bool attached;
  struct sp_self *next; /* fixed: the list of all selves there ever were */
  struct sp_self *next_free;
  /* The thread's alone. */
  spanprof_context own;
  sp_label_cache cache;
} sp_self;

/* What happens when a thread attaches or ends; set once, by the sampler. Called
 * on the thread itself, without a lock of this room. */
typedef struct sp_self_hooks {
  void (*attached)(sp_self *self);
  void (*ending)(sp_self *self); /* before `self` is reused */
} sp_self_hooks;

/* `hooks` must stay; NULL: none. */
void sp_self_hooks_set(const sp_self_hooks *hooks);

/* The calling thread's record, or NULL. Inside this room: sp_tls_get(). */
SP_SIGNAL_SAFE sp_self *sp_self_current(void);

/* The calling thread's record, made where there is none. NULL: no memory, or
 * the thread is past the end of its pthread keys. A pthread key ends it with
 * the thread; another key's destructor may attach again, which is ended in the
 * next round. */
sp_self *sp_self_attach(void);

/* Visit every attached thread. The list's lock is held, so no thread ends
 * meanwhile: `visit` may not attach, nor take a lock that a fork takes before
 * this room's (see sp_fork_rank). */
void sp_self_each(void (*visit)(sp_self *self));

/* The labels and the span that a sample carries. */
SP_HANDLER_CODE void sp_context_read(const sp_self *self,
                                     spanprof_labels *labels,
                                     spanprof_span *carried);
SP_SIGNAL_SAFE spanprof_mark sp_context_mark(const sp_self *self);

/* Store the labels, the span and the mark of the thread's work now or until
 * now. */
SP_SIGNAL_SAFE static inline void sp_context_remember(sp_self *self,
                                                      spanprof_labels labels,
                                                      spanprof_span carried,
                                                      spanprof_mark mark) {
  atomic_store_explicit(&self->own.last_labels, labels, memory_order_relaxed);
  atomic_store_explicit(&self->own.last_mark, mark, memory_order_relaxed);
  atomic_store_explicit(&self->own.last_span, carried, memory_order_relaxed);
}

/* As sp_context_read(); if nothing is active, the values of the last
 * sp_context_remember(). For CPU time that is booked afterwards. */
SP_HANDLER_RARE void sp_context_last(const sp_self *self,
                                     spanprof_labels *labels,
                                     spanprof_span *carried,
                                     spanprof_mark *mark);

/* Visit every context in use, and perhaps free ones (whose depth is 0), without
 * a lock. */
void sp_context_each(void (*visit)(void *data, const spanprof_context *context),
                     void *data);

/* How many contexts a visit goes by, about. */
uint32_t sp_context_count(void);

/* Around a fork: see label_fork.h. */
void sp_context_lock(void);
void sp_context_unlock(void);
void sp_context_forked(void); /* lock held, in the child */

#endif
