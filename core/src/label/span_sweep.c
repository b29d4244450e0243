#include "span_sweep.h"

#include "context.h"
#include "span.h"
#include "span_name.h"
#include "span_table.h"

#include <pthread.h>

/* Protocol: who ends a span puts it on a list without a lock. The sweep takes
 * that list, marks every span that stands on a stack, and frees those that it
 * found ended in an earlier sweep, found on no stack in the last two (a span
 * may move from one stack to another behind the sweep's back, but hardly
 * twice), and that nothing refers to. Its cost is linear in the ended spans and
 * the depth of all stacks; locks are held for one span at a time. */

/* Spans that ended before a thread sweeps: without a collector, and beside one
 * that gets no time on a crowded machine. */
#define SWEEP_ENDED_MAX       1024u
#define SWEEP_ENDED_OWNED_MAX (1u << 18)

/* Process-wide, as spans are. */
static struct {
  /* Written by any thread. */
  _Atomic uint32_t ended; /* place + 1 of the first */
  _Atomic uint32_t ended_count;
  _Atomic bool owned;
  /* Guarded by lock. */
  pthread_mutex_t lock;
  uint32_t waiting; /* place + 1 of the first */
  uint32_t number;  /* of this sweep */
} span_sweep = {.lock = PTHREAD_MUTEX_INITIALIZER, .number = 2};

static spanprof_span sweep_number(const sp_span *span, uint32_t place) {
  return (atomic_load_explicit(&span->state, memory_order_relaxed) >> 32)
             << 32 |
         place;
}

static void sweep_mark(spanprof_span number) {
  sp_span *span = number ? sp_span_pool_get(number) : NULL;

  if (span)
    span->marked = span_sweep.number;
}

static void sweep_mark_context(void *data, const spanprof_context *context) {
  uint32_t depth = atomic_load_explicit(&context->depth, memory_order_acquire);
  uint32_t i;

  (void)data;
  /* The outermost place counts when empty too: see sp_context_last_span(). */
  for (i = 0; i == 0 || i < depth; i++) {
    sweep_mark(
        atomic_load_explicit(&context->spans[i].carried, memory_order_relaxed));
    sweep_mark(
        atomic_load_explicit(&context->spans[i].span, memory_order_relaxed));
  }
}

/* Move the spans that ended since the last sweep to those that wait. */
static void sweep_collect(void) {
  uint32_t at =
      atomic_exchange_explicit(&span_sweep.ended, 0, memory_order_acquire);
  uint32_t count = 0;

  while (at) {
    sp_span *span = sp_span_pool_at(at - 1);
    uint32_t next = atomic_load_explicit(&span->next, memory_order_relaxed);

    span->seen = span_sweep.number;
    atomic_store_explicit(&span->next, span_sweep.waiting,
                          memory_order_relaxed);
    span_sweep.waiting = at;
    count++;
    at = next;
  }
  atomic_fetch_sub_explicit(&span_sweep.ended_count, count,
                            memory_order_relaxed);
}

static bool sweep_due(const sp_span *span) {
  return span->seen != span_sweep.number && span->marked != span_sweep.number &&
         span->marked != span_sweep.number - 1;
}

void sp_span_sweep_free(sp_span *span, spanprof_span number) {
  spanprof_span root = atomic_load_explicit(&span->root, memory_order_relaxed);
  spanprof_span carried =
      atomic_load_explicit(&span->carried, memory_order_relaxed);
  spanprof_span parent =
      atomic_load_explicit(&span->parent, memory_order_relaxed);

  span->marked = 0;
  sp_span_name_free(span, number);
  if (root != number)
    sp_span_table_unref(root);
  if (carried != number)
    sp_span_table_unref(carried);
  sp_span_table_unref(parent);
  sp_span_pool_give(number);
}

/* Free what may go, and turn the list round. True: a descendant kept some of
 * them. Lock held. */
static bool sweep_pass(void) {
  uint32_t at = span_sweep.waiting, kept = 0;
  bool referred = false;

  while (at) {
    sp_span *span = sp_span_pool_at(at - 1);
    uint32_t next = atomic_load_explicit(&span->next, memory_order_relaxed);
    spanprof_span number = sweep_number(span, at - 1);
    bool due = sweep_due(span);

    if (due && sp_span_table_remove(span, number)) {
      sp_span_sweep_free(span, number);
    } else {
      atomic_store_explicit(&span->next, kept, memory_order_relaxed);
      kept = at;
      referred = referred || due;
    }
    at = next;
  }
  span_sweep.waiting = kept;
  return referred;
}

/* Lock held. */
static void sweep_run(void) {
  span_sweep.number++;
  if (span_sweep.number < 2) /* 0 and 1 would look like "just marked" */
    span_sweep.number = 2;
  sweep_collect();
  sp_context_each(sweep_mark_context, NULL);
  /* The other way round as well, so that a chain of parents goes at once,
   * whether they ended before their children or after them. */
  if (sweep_pass())
    (void)sweep_pass();
}

bool sp_span_hold(spanprof_span span) {
  bool known;

  /* Not between a sweep's look at who refers to a span and its end. */
  pthread_mutex_lock(&span_sweep.lock);
  known = sp_span_pool_get(span) != NULL;
  if (known)
    sp_span_table_ref(span);
  pthread_mutex_unlock(&span_sweep.lock);
  return known;
}

void sp_span_release(spanprof_span span) {
  sp_span_table_unref(span);
}

void sp_span_sweep(void) {
  sp_label_fork_ready();
  pthread_mutex_lock(&span_sweep.lock);
  sweep_run();
  pthread_mutex_unlock(&span_sweep.lock);
}

void sp_span_sweep_ended(sp_span *span, spanprof_span number) {
  uint32_t head = atomic_load_explicit(&span_sweep.ended, memory_order_relaxed);
  uint32_t count = 1 + atomic_fetch_add_explicit(&span_sweep.ended_count, 1,
                                                 memory_order_relaxed);

  do {
    atomic_store_explicit(&span->next, head, memory_order_relaxed);
  } while (!atomic_compare_exchange_weak_explicit(
      &span_sweep.ended, &head, (uint32_t)number + 1, memory_order_release,
      memory_order_relaxed));
  /* In proportion to the contexts, so that walking them costs no more. */
  if (SP_UNLIKELY(
          count >= SWEEP_ENDED_MAX && count >= sp_context_count() &&
          (count >= SWEEP_ENDED_OWNED_MAX ||
           !atomic_load_explicit(&span_sweep.owned, memory_order_relaxed))) &&
      pthread_mutex_trylock(&span_sweep.lock) == 0) {
    sweep_run();
    pthread_mutex_unlock(&span_sweep.lock);
  }
}

void sp_span_sweep_owned(bool owned) {
  atomic_store_explicit(&span_sweep.owned, owned, memory_order_relaxed);
}

void sp_span_sweep_lock(void) {
  pthread_mutex_lock(&span_sweep.lock);
}

void sp_span_sweep_unlock(void) {
  pthread_mutex_unlock(&span_sweep.lock);
}
