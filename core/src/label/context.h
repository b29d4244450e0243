/* A context: the labels and the stack of active spans of a thread or fiber. The
 * signal handler finds the context of a thread through the thread's record,
 * sp_self.
 *
 * Protocol: only the thread that is in a context writes to the context. The
 * signal handler on that thread reads the context. The sweep that frees ended
 * spans reads it on another thread, and treats a torn read as "still active".
 * So relaxed stores in the right order suffice: a span is stored before the
 * depth that makes it visible. The memory of contexts and of sp_self records is
 * never unmapped. The memory of free contexts may be returned to the system; it
 * then reads as zero, that is, as a context without labels and spans. */
#ifndef SP_CONTEXT_H
#define SP_CONTEXT_H

#include "label_cache.h"

#define SP_SPAN_DEPTH 64

typedef struct sp_active_span {
  /* Samples carry the id of this span; 0: none. */
  _Atomic spanprof_span carried;
  _Atomic spanprof_span span; /* the span that was entered */
} sp_active_span;

struct sp_self;

struct spanprof_context {
  /* Written by the thread in the context, read in its signal handler. */
  _Atomic spanprof_labels labels;
  _Atomic uint32_t depth;  /* number of active spans, at most SP_SPAN_DEPTH */
  _Atomic uint32_t serial; /* number of spanprof_span_enter() calls so far */
  /* Fixed while the context is in use; identifies the context in tokens. */
  uint32_t number;
  /* The thread that is in this context. Written when a thread switches to or
   * from the context; read when the context is freed. */
  _Atomic(struct sp_self *) user;
  /* The labels, span and mark of the thread's last sample; or, if the thread
   * has popped its outermost label or left its outermost span since then, this
   * label or span. CPU time that is recorded when nothing is active any more
   * gets them. Used only in a thread's own context. Written by the thread and
   * its signal handler. */
  _Atomic spanprof_labels last_labels;
  _Atomic spanprof_span last_span;
  _Atomic spanprof_mark last_mark;
  /* The slab that contains the context; NULL for a thread's own context.
   * Guarded by the lock in context.c. */
  struct sp_context_slab *slab;
  /* Number by which a recording selects contexts; 0: none. Written by the
   * thread in the context, read in its signal handler. */
  _Atomic spanprof_mark mark;
  sp_active_span spans[SP_SPAN_DEPTH];
  _Atomic uint32_t serials[SP_SPAN_DEPTH];
};

/* The record of an attached thread, that is, of a thread that has used labels,
 * spans or contexts, or was registered. */
typedef struct sp_self {
  /* Written by the thread itself (`context` also by spanprof_context_free()),
   * read in its signal handler. */
  _Atomic(spanprof_context *) context;
  void *_Atomic thread_data; /* spanprof_thread_set_data() */
  /* The sampler's record of this thread. Used only by the sampler. */
  void *thread;
  int tid; /* set when the thread attaches, and in a forked child */
  int unblocked_signal; /* signal unblocked by registration, or 0 */
  /* Guarded by the lock in context.c. */
  bool attached;
  struct sp_self *next; /* list of all records ever created; fixed */
  struct sp_self *next_free;
  /* Used only by the thread itself. */
  spanprof_context own;
  sp_label_cache cache;
} sp_self;

/* Callbacks for the moments when a thread attaches or ends, set once, by the
 * sampler. They are called on that thread, which then holds no lock of this
 * folder. */
typedef struct sp_self_hooks {
  void (*attached)(sp_self *self);
  void (*ending)(sp_self *self); /* called before `self` is reused */
} sp_self_hooks;

/* Set the callbacks. `hooks` must stay valid. NULL: no callbacks. */
void sp_self_hooks_set(const sp_self_hooks *hooks);

/* Return the calling thread's record, or NULL. Code in this folder uses
 * sp_tls_get() instead. */
SP_SIGNAL_SAFE sp_self *sp_self_current(void);

/* Return the calling thread's record, and create it if there is none. Returns
 * NULL if there is no memory, or if the thread has run its last round of
 * destructors. The destructor of a pthread key frees the record when the thread
 * ends. If the destructor of another key attaches the thread again, the next
 * round of destructors frees the new record. */
sp_self *sp_self_attach(void);

/* Call `visit` for every attached thread. The lock in context.c is held during
 * the calls, so no thread's record is freed. Therefore `visit` must neither
 * attach a thread nor take a lock that precedes this folder's locks in
 * sp_fork_rank. */
void sp_self_each(void (*visit)(sp_self *self));

/* Read the labels and the span that a sample of the thread has now. */
SP_HANDLER_CODE void sp_context_read(const sp_self *self,
                                     spanprof_labels *labels,
                                     spanprof_span *carried);
SP_SIGNAL_SAFE spanprof_mark sp_context_mark(const sp_self *self);

/* Store the labels, the span and the mark of the thread's present or last work,
 * for sp_context_last(). */
SP_SIGNAL_SAFE static inline void sp_context_remember(sp_self *self,
                                                      spanprof_labels labels,
                                                      spanprof_span carried,
                                                      spanprof_mark mark) {
  atomic_store_explicit(&self->own.last_labels, labels, memory_order_relaxed);
  atomic_store_explicit(&self->own.last_mark, mark, memory_order_relaxed);
  atomic_store_explicit(&self->own.last_span, carried, memory_order_relaxed);
}

/* Read the labels, span and mark for CPU time that was used earlier and is
 * recorded now. If one of the three is no longer active, the value of the last
 * call of sp_context_remember() replaces it. */
SP_HANDLER_RARE void sp_context_last(const sp_self *self,
                                     spanprof_labels *labels,
                                     spanprof_span *carried,
                                     spanprof_mark *mark);

/* Call `visit` for every context in use, without a lock. Free contexts may be
 * visited, too; their depth is 0. */
void sp_context_each(void (*visit)(void *data, const spanprof_context *context),
                     void *data);

/* The approximate number of contexts that sp_context_each() visits. */
uint32_t sp_context_count(void);

/* Called before and after a fork by label_fork.c. */
void sp_context_lock(void);
void sp_context_unlock(void);
void sp_context_forked(void); /* in the child, which holds the lock */

#endif
