#include "context.h"

#include <limits.h>
#include <pthread.h>
#include <spanprof/runtime.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "context_slab.h"
#include "label_fork.h"
#include "label_set.h"
#include "tls.h"
#include "util/memory/mem.h"

/* Size of one block of sp_self records. Blocks are never unmapped, and records
 * are reused, so that a reader of the record of an ended thread never reads
 * other memory. */
#define CONTEXT_SELVES_BYTES 32768u

/* Process-wide, because threads and their contexts are. */
static struct {
  /* Read by any thread. */
  _Atomic(sp_self *) selves; /* list; records are only added, at the front */
  _Atomic uint32_t selves_made;
  _Atomic(const sp_self_hooks *) hooks;
  /* Guarded by lock. */
  pthread_mutex_t lock;
  sp_self *free_selves;
} contexts = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The number of times that the pthread key's destructor ended this thread's
 * sp_self record. It need not be as fast as the pointer in tls.h, because it is
 * read only in code that may take a lock. */
static _Thread_local unsigned context_ends;

/* Returns NULL if out of memory. The caller holds `contexts.lock`. */
static sp_self *self_new(void) {
  sp_self *self = contexts.free_selves;

  if (!self) {
    sp_self *slab = sp_pages_new(CONTEXT_SELVES_BYTES);
    size_t i;

    if (!slab)
      return NULL;
    for (i = 0; i < CONTEXT_SELVES_BYTES / sizeof *slab; i++) {
      slab[i].next =
          atomic_load_explicit(&contexts.selves, memory_order_relaxed);
      atomic_store_explicit(&contexts.selves, &slab[i], memory_order_release);
      slab[i].next_free = contexts.free_selves;
      contexts.free_selves = &slab[i];
    }
    atomic_fetch_add_explicit(&contexts.selves_made, (uint32_t)i,
                              memory_order_relaxed);
    self = contexts.free_selves;
  }
  contexts.free_selves = self->next_free;
  sp_context_begin(&self->own);
  atomic_store_explicit(&self->context, &self->own, memory_order_relaxed);
  atomic_store_explicit(&self->thread_data, NULL, memory_order_relaxed);
  self->thread = NULL;
  self->tid = 0;
  self->unblocked_signal = 0;
  memset(&self->cache, 0, sizeof self->cache);
  self->attached = true;
  return self;
}

/* The caller holds `contexts.lock`. */
static void self_free(sp_self *self) {
  spanprof_context *context =
      atomic_load_explicit(&self->context, memory_order_relaxed);

  if (context != &self->own)
    atomic_store_explicit(&context->user, NULL, memory_order_relaxed);
  sp_context_clear(&self->own);
  self->attached = false;
  self->next_free = contexts.free_selves;
  contexts.free_selves = self;
}

/* The destructor of the pthread key. It runs on the ending thread. */
static void self_end(void *data) {
  sp_self *self = data;
  const sp_self_hooks *hooks =
      atomic_load_explicit(&contexts.hooks, memory_order_acquire);

  context_ends++;
  /* Mark the record as not attached first, so that no visitor of sp_self_each()
   * enrols the ending thread. */
  pthread_mutex_lock(&contexts.lock);
  self->attached = false;
  pthread_mutex_unlock(&contexts.lock);
  if (hooks && hooks->ending)
    hooks->ending(self);
  sp_tls_set(NULL);
  pthread_mutex_lock(&contexts.lock);
  self_free(self);
  pthread_mutex_unlock(&contexts.lock);
}

void sp_self_hooks_set(const sp_self_hooks *hooks) {
  atomic_store_explicit(&contexts.hooks, hooks, memory_order_release);
}

SP_SIGNAL_SAFE sp_self *sp_self_current(void) {
  return sp_tls_get();
}

sp_self *sp_self_attach(void) {
  sp_self *self = sp_tls_get();
  const sp_self_hooks *hooks;

  if (SP_LIKELY(self))
    return self;
  /* A record that is created after the last round of destructors would never be
   * freed. */
  if (context_ends >= PTHREAD_DESTRUCTOR_ITERATIONS || !sp_tls_init(self_end))
    return NULL;
  sp_label_fork_ready();
  sp_label_set_ready();
  pthread_mutex_lock(&contexts.lock);
  self = self_new();
  if (self)
    self->tid = (int)syscall(SYS_gettid);
  pthread_mutex_unlock(&contexts.lock);
  if (!self)
    return NULL;
  if (!sp_tls_set(self)) {
    pthread_mutex_lock(&contexts.lock);
    self_free(self);
    pthread_mutex_unlock(&contexts.lock);
    return NULL;
  }
  hooks = atomic_load_explicit(&contexts.hooks, memory_order_acquire);
  if (hooks && hooks->attached)
    hooks->attached(self);
  return self;
}

static sp_self *selves_first(void) {
  return atomic_load_explicit(&contexts.selves, memory_order_acquire);
}

void sp_self_each(void (*visit)(sp_self *self)) {
  sp_self *self;

  sp_label_fork_ready();
  pthread_mutex_lock(&contexts.lock);
  for (self = selves_first(); self; self = self->next)
    if (self->attached)
      visit(self);
  pthread_mutex_unlock(&contexts.lock);
}

SP_HANDLER_CODE void sp_context_read(const sp_self *self,
                                     spanprof_labels *labels,
                                     spanprof_span *carried) {
  const spanprof_context *context =
      atomic_load_explicit(&self->context, memory_order_relaxed);
  uint32_t depth = atomic_load_explicit(&context->depth, memory_order_relaxed);

  atomic_signal_fence(memory_order_acquire);
  *labels = atomic_load_explicit(&context->labels, memory_order_relaxed);
  *carried = depth ? atomic_load_explicit(&context->spans[depth - 1].carried,
                                          memory_order_relaxed)
                   : 0;
}

SP_HANDLER_RARE void sp_context_last(const sp_self *self,
                                     spanprof_labels *labels,
                                     spanprof_span *carried,
                                     spanprof_mark *mark) {
  sp_context_read(self, labels, carried);
  *mark = sp_context_mark(self);
  if (*labels == 0)
    *labels =
        atomic_load_explicit(&self->own.last_labels, memory_order_relaxed);
  if (*carried == 0)
    *carried = atomic_load_explicit(&self->own.last_span, memory_order_relaxed);
  if (*mark == 0)
    *mark = atomic_load_explicit(&self->own.last_mark, memory_order_relaxed);
}

SP_SIGNAL_SAFE spanprof_mark sp_context_mark(const sp_self *self) {
  return atomic_load_explicit(
      &atomic_load_explicit(&self->context, memory_order_relaxed)->mark,
      memory_order_relaxed);
}

SP_SIGNAL_SAFE void
spanprof_thread_set_context(const spanprof_context_view *view) {
  sp_self *self = sp_tls_get();

  if (self)
    sp_context_remember(self, view->labels, view->span, view->mark);
}

void sp_context_each(void (*visit)(void *data, const spanprof_context *context),
                     void *data) {
  const sp_self *self;

  for (self = selves_first(); self; self = self->next)
    visit(data, &self->own);
  sp_context_slab_each(visit, data);
}

uint32_t sp_context_count(void) {
  return atomic_load_explicit(&contexts.selves_made, memory_order_relaxed) +
         sp_context_slab_count();
}

void sp_context_lock(void) {
  pthread_mutex_lock(&contexts.lock);
}

void sp_context_unlock(void) {
  pthread_mutex_unlock(&contexts.lock);
}

void sp_context_forked(void) {
  sp_self *self;

  for (self = selves_first(); self; self = self->next) {
    if (self == sp_tls_get())
      self->tid = (int)syscall(SYS_gettid);
    else if (self->attached)
      self_free(self);
  }
}

spanprof_status spanprof_context_new(spanprof_context **out) {
  sp_label_fork_ready();
  pthread_mutex_lock(&contexts.lock);
  *out = sp_context_slab_acquire();
  pthread_mutex_unlock(&contexts.lock);
  if (!*out)
    return SPANPROF_ERR_NOMEM;
  atomic_store_explicit(&(*out)->mark, spanprof_mark_get(),
                        memory_order_relaxed);
  return SPANPROF_OK;
}

void spanprof_context_free(spanprof_context *context) {
  sp_self *user;

  if (!context)
    return;
  user = atomic_load_explicit(&context->user, memory_order_relaxed);
  if (user) {
    spanprof_context *expected = context;

    /* Fails if the thread has switched to another context since `user` was
     * read. */
    atomic_compare_exchange_strong_explicit(&user->context, &expected,
                                            &user->own, memory_order_relaxed,
                                            memory_order_relaxed);
  }
  pthread_mutex_lock(&contexts.lock);
  sp_context_slab_release(context);
  pthread_mutex_unlock(&contexts.lock);
}

SP_SIGNAL_SAFE spanprof_context *spanprof_context_switch(spanprof_context *to) {
  sp_self *self = sp_tls_get();
  spanprof_context *from;

  if (SP_UNLIKELY(!self)) {
    self = to ? sp_self_attach() : NULL;
    if (!self)
      return NULL;
  }
  from = atomic_load_explicit(&self->context, memory_order_relaxed);
  if (to)
    atomic_store_explicit(&to->user, self, memory_order_relaxed);
  atomic_store_explicit(&self->context, to ? to : &self->own,
                        memory_order_relaxed);
  if (from == &self->own)
    return NULL;
  if (from != to)
    atomic_store_explicit(&from->user, NULL, memory_order_relaxed);
  return from;
}

SP_SIGNAL_SAFE spanprof_mark spanprof_mark_get(void) {
  const sp_self *self = sp_tls_get();

  return self ? sp_context_mark(self) : 0;
}

SP_SIGNAL_SAFE void spanprof_mark_set(spanprof_mark mark) {
  sp_self *self = sp_tls_get();

  if (!self)
    self = mark ? sp_self_attach() : NULL;
  if (self)
    atomic_store_explicit(
        &atomic_load_explicit(&self->context, memory_order_relaxed)->mark, mark,
        memory_order_relaxed);
}
