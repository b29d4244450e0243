/* A context: the labels and the stack of active spans of a thread or fiber. The
 * signal handler finds the context of a thread through the thread's record
 * (sp_self).
 *
 * Protocol: only the thread that is in a context writes to it. The signal
 * handler on that thread reads it, and so does the sweep of ended spans, which
 * treats a torn read as "still active". So relaxed stores in the right order
 * suffice: a span is stored before the depth that makes it visible. The memory
 * of contexts and of sp_self records is never unmapped. The memory of free
 * contexts may be returned to the system; it then reads as zero, that is, as a
 * context without labels and spans. */
#ifndef SP_CONTEXT_H
#define SP_CONTEXT_H

#include "label_cache.h"

#define SP_SPAN_DEPTH 64

typedef struct sp_active_span {
  _Atomic spanprof_span carried; /* the span whose id samples carry; 0: none */
  _Atomic spanprof_span span;    /* the span that was entered */
} sp_active_span;

struct sp_self;

struct spanprof_context {
  /* Written by the thread in the context, read in its handler. */
  _Atomic spanprof_labels labels;
  _Atomic uint32_t depth;  /* number of active spans, at most SP_SPAN_DEPTH */
  _Atomic uint32_t serial; /* number of the last enter */
  /* Fixed while the context is in use; identifies the context in tokens. */
  uint32_t number;
  /* The thread that is in this context. Written when a thread switches to it or
   * away from it; read when it is freed. */
  _Atomic(struct sp_self *) user;
  /* Used only in a thread's own context: labels, span and mark of the thread's
   * last sample, or of the labels and span that the thread left last, if that
   * was later. Written by the thread and its signal handler. */
  _Atomic spanprof_labels last_labels;
  _Atomic spanprof_span last_span;
  _Atomic spanprof_mark last_mark;
  /* The slab that contains the context; NULL for a thread's own context.
   * Guarded by the list's lock. */
  struct sp_context_slab *slab;
  /* Written by the thread in the context, read in its handler. */
  _Atomic spanprof_mark mark; /* of the context's recording; 0: none */
  sp_active_span spans[SP_SPAN_DEPTH];
  _Atomic uint32_t serials[SP_SPAN_DEPTH];
};

/* The record of an attached thread. */
typedef struct sp_self {
  /* Written by the thread itself (`context` also by spanprof_context_free()),
   * read in its handler. */
  _Atomic(spanprof_context *) context;
  void *_Atomic thread_data; /* spanprof_thread_set_data() */
  /* The sampler's record of this thread. */
  void *thread;
  int tid; /* set when the thread attaches, and in a forked child */
  int unblocked_signal; /* the signal that registering unblocked, or 0 */
  /* Guarded by the list's lock. */
  bool attached;
  struct sp_self *next; /* list of all records ever created; fixed */
  struct sp_self *next_free;
  /* Used only by the thread itself. */
  spanprof_context own;
  sp_label_cache cache;
} sp_self;

/* Callbacks for when a thread attaches or ends; set once, by the sampler.
 * Called on that thread, without a lock of this folder. */
typedef struct sp_self_hooks {
  void (*attached)(sp_self *self);
  void (*ending)(sp_self *self); /* before `self` is reused */
} sp_self_hooks;

/* `hooks` must stay valid. NULL: no callbacks. */
void sp_self_hooks_set(const sp_self_hooks *hooks);

/* The calling thread's record, or NULL. Code in this folder uses
 * sp_tls_get(). */
SP_SIGNAL_SAFE sp_self *sp_self_current(void);

/* The calling thread's record, created if there is none. Returns NULL if there
 * is no memory, or if the thread has run the last round of destructors. A
 * pthread key ends the record with the thread; if another key's destructor
 * attaches again, the next round of destructors ends that record. */
sp_self *sp_self_attach(void);

/* Visit every attached thread. The list's lock is held, so no thread ends in
 * the meantime: `visit` must neither attach nor take a lock that precedes this
 * folder's in sp_fork_rank. */
void sp_self_each(void (*visit)(sp_self *self));

/* Read the labels and the span that a sample carries. */
SP_HANDLER_CODE void sp_context_read(const sp_self *self,
                                     spanprof_labels *labels,
                                     spanprof_span *carried);
SP_SIGNAL_SAFE spanprof_mark sp_context_mark(const sp_self *self);

/* Store the labels, the span and the mark of the thread's present or last
 * work. */
SP_SIGNAL_SAFE static inline void sp_context_remember(sp_self *self,
                                                      spanprof_labels labels,
                                                      spanprof_span carried,
                                                      spanprof_mark mark) {
  atomic_store_explicit(&self->own.last_labels, labels, memory_order_relaxed);
  atomic_store_explicit(&self->own.last_mark, mark, memory_order_relaxed);
  atomic_store_explicit(&self->own.last_span, carried, memory_order_relaxed);
}

/* As sp_context_read(). If nothing is active, returns the values of the last
 * sp_context_remember(). For CPU time that is recorded afterwards. */
SP_HANDLER_RARE void sp_context_last(const sp_self *self,
                                     spanprof_labels *labels,
                                     spanprof_span *carried,
                                     spanprof_mark *mark);

/* Visit every context in use, and possibly free ones (their depth is 0),
 * without a lock. */
void sp_context_each(void (*visit)(void *data, const spanprof_context *context),
                     void *data);

/* The approximate number of contexts that sp_context_each() visits. */
uint32_t sp_context_count(void);

/* Called around a fork: see label_fork.h. */
void sp_context_lock(void);
void sp_context_unlock(void);
void sp_context_forked(void); /* lock held, in the child */

#endif
