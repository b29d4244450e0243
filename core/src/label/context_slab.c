#include "context_slab.h"

#include "util/memory/mem.h"

#define CONTEXT_SLAB_BYTES 32768u

/* Number of contexts per slab; each has one bit. */
#define CONTEXT_SLAB_COUNT (CONTEXT_SLAB_BYTES / sizeof(spanprof_context))
#define CONTEXT_SLAB_FULL  ((UINT32_C(1) << CONTEXT_SLAB_COUNT) - 1)

_Static_assert(CONTEXT_SLAB_COUNT < 32, "a bit for each context of a slab");

/* Maximum number of unused slabs that keep their memory for later contexts. */
#define CONTEXT_SLABS_KEPT 16

/* A slab of contexts. This header stays when the memory of the slab's contexts
 * is returned to the system. A slab with memory and free contexts is in the
 * list `partial`. A slab without memory is in the list `released`. A full slab
 * is in neither list. */
struct sp_context_slab {
  /* Fixed. */
  spanprof_context *contexts;
  struct sp_context_slab *next; /* list of all slabs */
  /* One bit for each context, 1 if it is in use. Written with the lock of
   * context.c held, read by any thread. */
  _Atomic uint32_t used;
  /* Neighbours in the list `partial` or `released`. Guarded by the lock of
   * context.c. */
  struct sp_context_slab *list_next;
  struct sp_context_slab *list_before;
};

/* Process-wide, because contexts are. */
static struct {
  /* Read by any thread. */
  _Atomic(sp_context_slab *) all; /* slabs are only added, at the front */
  _Atomic uint32_t places;        /* capacity of slabs in use, in contexts */
  /* Guarded by the lock of context.c. */
  sp_context_slab *partial;
  sp_context_slab *released;
  /* Number of slabs in `partial` without a used context. */
  uint32_t kept;
  sp_context_slab *spare; /* unused slab headers */
  size_t spare_count;
  uint32_t numbers; /* last number given to a context */
} slabs;

void sp_context_begin(spanprof_context *context) {
  atomic_store_explicit(&context->labels, 0, memory_order_relaxed);
  atomic_store_explicit(&context->mark, 0, memory_order_relaxed);
  atomic_store_explicit(&context->depth, 0, memory_order_relaxed);
  atomic_store_explicit(&context->last_labels, 0, memory_order_relaxed);
  atomic_store_explicit(&context->last_span, 0, memory_order_relaxed);
  atomic_store_explicit(&context->last_mark, 0, memory_order_relaxed);
  atomic_store_explicit(&context->user, NULL, memory_order_relaxed);
  context->number = ++slabs.numbers;
}

void sp_context_clear(spanprof_context *context) {
  atomic_store_explicit(&context->depth, 0, memory_order_relaxed);
  atomic_store_explicit(&context->labels, 0, memory_order_relaxed);
  atomic_store_explicit(&context->mark, 0, memory_order_relaxed);
  atomic_store_explicit(&context->last_labels, 0, memory_order_relaxed);
  atomic_store_explicit(&context->last_span, 0, memory_order_relaxed);
  atomic_store_explicit(&context->last_mark, 0, memory_order_relaxed);
}

static void slab_list_add(sp_context_slab **list, sp_context_slab *slab) {
  slab->list_before = NULL;
  slab->list_next = *list;
  if (*list)
    (*list)->list_before = slab;
  *list = slab;
}

static void slab_list_remove(sp_context_slab **list, sp_context_slab *slab) {
  if (slab->list_before)
    slab->list_before->list_next = slab->list_next;
  else
    *list = slab->list_next;
  if (slab->list_next)
    slab->list_next->list_before = slab->list_before;
}

/* Returns NULL if out of memory. */
static sp_context_slab *slab_header_new(void) {
  const size_t page = CONTEXT_SLAB_BYTES / 8;

  if (slabs.spare_count == 0) {
    slabs.spare = sp_pages_new(page);
    if (!slabs.spare)
      return NULL;
    slabs.spare_count = page / sizeof *slabs.spare;
  }
  return &slabs.spare[--slabs.spare_count];
}

/* Returns NULL if out of memory. */
static sp_context_slab *slab_new(void) {
  spanprof_context *memory = sp_pages_new(CONTEXT_SLAB_BYTES);
  sp_context_slab *slab = memory ? slab_header_new() : NULL;

  if (!slab) {
    sp_pages_free(memory, CONTEXT_SLAB_BYTES);
    return NULL;
  }
  slab->contexts = memory;
  slab->next = atomic_load_explicit(&slabs.all, memory_order_relaxed);
  atomic_store_explicit(&slabs.all, slab, memory_order_release);
  return slab;
}

/* Return a slab with a free context, which the caller must then use. Returns
 * NULL if out of memory. */
static sp_context_slab *slab_with_free_context(void) {
  sp_context_slab *slab = slabs.partial;

  if (!slab) {
    slab = slabs.released;
    if (slab)
      slab_list_remove(&slabs.released, slab);
    else
      slab = slab_new();
    if (!slab)
      return NULL;
    slab_list_add(&slabs.partial, slab);
    slabs.kept++;
  }
  if (atomic_load_explicit(&slab->used, memory_order_relaxed) == 0) {
    slabs.kept--;
    atomic_fetch_add_explicit(&slabs.places, CONTEXT_SLAB_COUNT,
                              memory_order_relaxed);
  }
  return slab;
}

spanprof_context *sp_context_slab_acquire(void) {
  sp_context_slab *slab = slab_with_free_context();
  spanprof_context *context;
  uint32_t used, at;

  if (!slab)
    return NULL;
  used = atomic_load_explicit(&slab->used, memory_order_relaxed);
  at = (uint32_t)__builtin_ctz(~used);
  used |= UINT32_C(1) << at;
  context = &slab->contexts[at];
  sp_context_begin(context);
  context->slab = slab;
  atomic_store_explicit(&slab->used, used, memory_order_release);
  if (used == CONTEXT_SLAB_FULL)
    slab_list_remove(&slabs.partial, slab);
  return context;
}

/* Called after the last used context of a slab was freed. */
static void slab_emptied(sp_context_slab *slab) {
  atomic_fetch_sub_explicit(&slabs.places, CONTEXT_SLAB_COUNT,
                            memory_order_relaxed);
  if (slabs.kept < CONTEXT_SLABS_KEPT) {
    slabs.kept++;
    return;
  }
  slab_list_remove(&slabs.partial, slab);
  sp_pages_discard(slab->contexts, CONTEXT_SLAB_BYTES);
  slab_list_add(&slabs.released, slab);
}

void sp_context_slab_release(spanprof_context *context) {
  sp_context_slab *slab = context->slab;
  uint32_t used = atomic_load_explicit(&slab->used, memory_order_relaxed);

  if (used == CONTEXT_SLAB_FULL)
    slab_list_add(&slabs.partial, slab);
  used &= ~(UINT32_C(1) << (context - slab->contexts));
  sp_context_clear(context);
  atomic_store_explicit(&slab->used, used, memory_order_release);
  if (used == 0)
    slab_emptied(slab);
}

void sp_context_slab_each(void (*visit)(void *data,
                                        const spanprof_context *context),
                          void *data) {
  const sp_context_slab *slab =
      atomic_load_explicit(&slabs.all, memory_order_acquire);

  for (; slab; slab = slab->next) {
    uint32_t used = atomic_load_explicit(&slab->used, memory_order_acquire);

    for (; used; used &= used - 1)
      visit(data, &slab->contexts[__builtin_ctz(used)]);
  }
}

uint32_t sp_context_slab_count(void) {
  return atomic_load_explicit(&slabs.places, memory_order_relaxed);
}
