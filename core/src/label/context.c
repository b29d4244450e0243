#include "context.h"

#include <limits.h>
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../util/mem.h"
#include "label_fork.h"
#include "tls.h"

/* Contexts and selves come from pages that stay mapped, and are reused: whoever
 * reads one that was just freed reads a context without spans, never foreign
 * memory. */

#define CONTEXT_SLAB_BYTES 32768u

/* A slab's contexts: one bit each. */
#define CONTEXT_SLAB_COUNT (CONTEXT_SLAB_BYTES / sizeof(spanprof_context))
#define CONTEXT_SLAB_FULL  ((UINT32_C(1) << CONTEXT_SLAB_COUNT) - 1)

_Static_assert(CONTEXT_SLAB_COUNT < 32, "a bit for each context of a slab");

/* Slabs without a context in use that keep their memory, for those to come. */
#define CONTEXT_SLABS_KEPT 16

/* Where some contexts are; their headers stay when their memory is given back.
 * With room and memory it stands in `roomy`, without memory in `bare`, full in
 * neither. */
typedef struct sp_context_slab {
  /* Fixed. */
  spanprof_context *contexts;
  struct sp_context_slab *next; /* of all */
  /* Written with the lock held, read by anyone: a bit for each in use. */
  _Atomic uint32_t used;
  /* Guarded by lock: neighbours in the list it stands in. */
  struct sp_context_slab *list_next;
  struct sp_context_slab *list_before;
} context_slab;

/* Process-wide: threads and their contexts are. */
static struct {
  /* Read by any thread. */
  _Atomic(context_slab *) slabs; /* only added to, at the front */
  _Atomic(sp_self *) selves;     /* the same */
  _Atomic uint32_t visits;       /* contexts of selves and of slabs in use */
  _Atomic(const sp_self_hooks *) hooks;
  /* Guarded by lock. */
  pthread_mutex_t lock;
  sp_self *free_selves;
  context_slab *roomy;
  context_slab *bare;
  uint32_t kept;       /* of roomy those without a context in use */
  context_slab *spare; /* headers that were never used */
  size_t spare_count;
  uint32_t numbers; /* given to contexts */
} contexts = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* How often this thread's record was ended by its key. Not the pointer of
 * tls.h: read only where a lock may be taken. */
static _Thread_local unsigned context_ends;

/* Empty, with a number of its own. Lock held. */
static void context_begin(spanprof_context *context) {
  atomic_store_explicit(&context->labels, 0, memory_order_relaxed);
  atomic_store_explicit(&context->depth, 0, memory_order_relaxed);
  atomic_store_explicit(&context->spans[0].carried, 0, memory_order_relaxed);
  atomic_store_explicit(&context->user, NULL, memory_order_relaxed);
  context->number = ++contexts.numbers;
}

/* Lock held. */
static void context_clear(spanprof_context *context) {
  atomic_store_explicit(&context->depth, 0, memory_order_relaxed);
  atomic_store_explicit(&context->labels, 0, memory_order_relaxed);
  atomic_store_explicit(&context->spans[0].carried, 0, memory_order_relaxed);
}

static void slab_list_add(context_slab **list, context_slab *slab) {
  slab->list_before = NULL;
  slab->list_next = *list;
  if (*list)
    (*list)->list_before = slab;
  *list = slab;
}

static void slab_list_remove(context_slab **list, context_slab *slab) {
  if (slab->list_before)
    slab->list_before->list_next = slab->list_next;
  else
    *list = slab->list_next;
  if (slab->list_next)
    slab->list_next->list_before = slab->list_before;
}

/* NULL: no memory. Lock held. */
static context_slab *slab_header_new(void) {
  const size_t page = CONTEXT_SLAB_BYTES / 8;

  if (contexts.spare_count == 0) {
    contexts.spare = sp_pages_new(page);
    if (!contexts.spare)
      return NULL;
    contexts.spare_count = page / sizeof *contexts.spare;
  }
  return &contexts.spare[--contexts.spare_count];
}

/* NULL: no memory. Lock held. */
static context_slab *slab_new(void) {
  spanprof_context *memory = sp_pages_new(CONTEXT_SLAB_BYTES);
  context_slab *slab = memory ? slab_header_new() : NULL;

  if (!slab) {
    sp_pages_free(memory, CONTEXT_SLAB_BYTES);
    return NULL;
  }
  slab->contexts = memory;
  slab->next = atomic_load_explicit(&contexts.slabs, memory_order_relaxed);
  atomic_store_explicit(&contexts.slabs, slab, memory_order_release);
  return slab;
}

/* One with room, of which at least one context is in use from now on. Lock
 * held. */
static context_slab *slab_with_room(void) {
  context_slab *slab = contexts.roomy;

  if (!slab) {
    slab = contexts.bare;
    if (slab)
      slab_list_remove(&contexts.bare, slab);
    else
      slab = slab_new();
    if (!slab)
      return NULL;
    slab_list_add(&contexts.roomy, slab);
    contexts.kept++;
  }
  if (atomic_load_explicit(&slab->used, memory_order_relaxed) == 0) {
    contexts.kept--;
    atomic_fetch_add_explicit(&contexts.visits, CONTEXT_SLAB_COUNT,
                              memory_order_relaxed);
  }
  return slab;
}

/* Lock held. */
static spanprof_context *context_take(void) {
  context_slab *slab = slab_with_room();
  spanprof_context *context;
  uint32_t used, at;

  if (!slab)
    return NULL;
  used = atomic_load_explicit(&slab->used, memory_order_relaxed);
  at = (uint32_t)__builtin_ctz(~used);
  used |= UINT32_C(1) << at;
  context = &slab->contexts[at];
  context_begin(context);
  context->slab = slab;
  atomic_store_explicit(&slab->used, used, memory_order_release);
  if (used == CONTEXT_SLAB_FULL)
    slab_list_remove(&contexts.roomy, slab);
  return context;
}

/* The last of its contexts was given back. Lock held. */
static void slab_emptied(context_slab *slab) {
  atomic_fetch_sub_explicit(&contexts.visits, CONTEXT_SLAB_COUNT,
                            memory_order_relaxed);
  if (contexts.kept < CONTEXT_SLABS_KEPT) {
    contexts.kept++;
    return;
  }
  slab_list_remove(&contexts.roomy, slab);
  sp_pages_forget(slab->contexts, CONTEXT_SLAB_BYTES);
  slab_list_add(&contexts.bare, slab);
}

/* Lock held. */
static void context_give(spanprof_context *context) {
  context_slab *slab = context->slab;
  uint32_t used = atomic_load_explicit(&slab->used, memory_order_relaxed);

  if (used == CONTEXT_SLAB_FULL)
    slab_list_add(&contexts.roomy, slab);
  used &= ~(UINT32_C(1) << (context - slab->contexts));
  context_clear(context);
  atomic_store_explicit(&slab->used, used, memory_order_release);
  if (used == 0)
    slab_emptied(slab);
}

/* Lock held. */
static sp_self *self_take(void) {
  sp_self *self = contexts.free_selves;

  if (!self) {
    sp_self *slab = sp_pages_new(CONTEXT_SLAB_BYTES);
    size_t i;

    if (!slab)
      return NULL;
    for (i = 0; i < CONTEXT_SLAB_BYTES / sizeof *slab; i++) {
      slab[i].next =
          atomic_load_explicit(&contexts.selves, memory_order_relaxed);
      atomic_store_explicit(&contexts.selves, &slab[i], memory_order_release);
      slab[i].next_free = contexts.free_selves;
      contexts.free_selves = &slab[i];
    }
    atomic_fetch_add_explicit(&contexts.visits, (uint32_t)i,
                              memory_order_relaxed);
    self = contexts.free_selves;
  }
  contexts.free_selves = self->next_free;
  context_begin(&self->own);
  atomic_store_explicit(&self->context, &self->own, memory_order_relaxed);
  atomic_store_explicit(&self->thread_data, NULL, memory_order_relaxed);
  self->thread = NULL;
  self->tid = 0;
  self->signal_open = 0;
  memset(&self->cache, 0, sizeof self->cache);
  self->attached = true;
  return self;
}

/* Lock held. */
static void self_give(sp_self *self) {
  spanprof_context *context =
      atomic_load_explicit(&self->context, memory_order_relaxed);

  if (context != &self->own)
    atomic_store_explicit(&context->user, NULL, memory_order_relaxed);
  context_clear(&self->own);
  self->attached = false;
  self->next_free = contexts.free_selves;
  contexts.free_selves = self;
}

/* The pthread key's destructor, on the thread that ends. */
static void self_end(void *data) {
  sp_self *self = data;
  const sp_self_hooks *hooks =
      atomic_load_explicit(&contexts.hooks, memory_order_acquire);

  context_ends++;
  /* Out of sight first, so that no visitor attaches what is ending. */
  pthread_mutex_lock(&contexts.lock);
  self->attached = false;
  pthread_mutex_unlock(&contexts.lock);
  if (hooks && hooks->ending)
    hooks->ending(self);
  sp_tls_set(NULL);
  pthread_mutex_lock(&contexts.lock);
  self_give(self);
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
  /* After its last round of destructors a thread would never be ended. */
  if (context_ends >= PTHREAD_DESTRUCTOR_ITERATIONS || !sp_tls_init(self_end))
    return NULL;
  sp_label_fork_ready();
  pthread_mutex_lock(&contexts.lock);
  self = self_take();
  if (self)
    self->tid = (int)syscall(SYS_gettid);
  pthread_mutex_unlock(&contexts.lock);
  if (!self)
    return NULL;
  if (!sp_tls_set(self)) {
    pthread_mutex_lock(&contexts.lock);
    self_give(self);
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
                                     spanprof_label_set *labels,
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

SP_SIGNAL_SAFE spanprof_span sp_context_last_span(const sp_self *self) {
  const spanprof_context *context =
      atomic_load_explicit(&self->context, memory_order_relaxed);
  uint32_t depth = atomic_load_explicit(&context->depth, memory_order_relaxed);

  /* What was left last stands in the outermost place. */
  return atomic_load_explicit(&context->spans[depth ? depth - 1 : 0].carried,
                              memory_order_relaxed);
}

void sp_context_each(void (*visit)(void *data, const spanprof_context *context),
                     void *data) {
  const context_slab *slab =
      atomic_load_explicit(&contexts.slabs, memory_order_acquire);
  const sp_self *self;

  for (self = selves_first(); self; self = self->next)
    visit(data, &self->own);
  for (; slab; slab = slab->next) {
    uint32_t used = atomic_load_explicit(&slab->used, memory_order_acquire);

    for (; used; used &= used - 1)
      visit(data, &slab->contexts[__builtin_ctz(used)]);
  }
}

uint32_t sp_context_count(void) {
  return atomic_load_explicit(&contexts.visits, memory_order_relaxed);
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
      self_give(self);
  }
}

spanprof_status spanprof_context_new(spanprof_context **out) {
  sp_label_fork_ready();
  pthread_mutex_lock(&contexts.lock);
  *out = context_take();
  pthread_mutex_unlock(&contexts.lock);
  return *out ? SPANPROF_OK : SPANPROF_ERR_NOMEM;
}

void spanprof_context_free(spanprof_context *context) {
  sp_self *user;

  if (!context)
    return;
  user = atomic_load_explicit(&context->user, memory_order_relaxed);
  if (user) {
    spanprof_context *expected = context;

    /* Fails where the thread has switched away at this instant. */
    atomic_compare_exchange_strong_explicit(&user->context, &expected,
                                            &user->own, memory_order_relaxed,
                                            memory_order_relaxed);
  }
  pthread_mutex_lock(&contexts.lock);
  context_give(context);
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
