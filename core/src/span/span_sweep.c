#include "span_sweep.h"

#include <pthread.h>

#include "label/context.h"
#include "span.h"
#include "span_fork.h"
#include "span_name.h"
#include "span_table.h"

/* Protocol: a thread that ends a span adds it to a list without a lock. Each
 * pass of the sweep takes over that list for the next pass and marks every span
 * that is on a context's stack. It then examines the list that the previous
 * pass took over. It frees those spans that were on no stack in this pass and
 * in the previous one, and that have no references. (A span may move from one
 * stack to another unseen by one pass, but hardly by two.)
 *
 * A pass consists of slices, each under the lock. The collector runs them every
 * second. If more spans end than it frees, the threads that end spans help.
 * Each call does at most one slice of work, which frees more spans than the one
 * span that the thread adds, so ended spans do not pile up at any rate. */

#define SWEEP_SLICE 256u /* number of spans; takes some 40 us */

/* A thread that ends a span helps when this many spans have ended since the
 * pass began: without a collector, and with a collector. From the last number
 * on, it also waits for the lock. */
#define SWEEP_ENDED_MAX       1024u
#define SWEEP_ENDED_OWNED_MAX (1u << 18)
#define SWEEP_ENDED_PRESSING  (1u << 20)

/* Process-wide, as spans are. A list is the place + 1 of its first span. */
static struct {
  /* Written by any thread. */
  _Atomic uint32_t ended;
  _Atomic uint32_t ended_count; /* since the last pass began */
  _Atomic bool owned;
  /* Guarded by lock. */
  pthread_mutex_t lock;
  uint32_t young; /* ended before this pass began; for the next pass */
  uint32_t older; /* ended before the last pass began; for this pass */
  uint32_t due;   /* not yet examined in this pass */
  /* Spans that had references. They are examined again, because a descendant
   * may have been freed meanwhile. */
  uint32_t referred;
  uint32_t kept; /* for the next pass */
  /* Number of the pass; never 0 or 1, which would look like "just marked". */
  uint32_t pass;
  bool running; /* a pass has begun and not finished */
  bool again;   /* `due` contains the spans of `referred` */
} span_sweep = {.lock = PTHREAD_MUTEX_INITIALIZER, .pass = 2};

static spanprof_span sweep_number(const sp_span *span, uint32_t place) {
  return (atomic_load_explicit(&span->state, memory_order_relaxed) >> 32)
             << 32 |
         place;
}

static void sweep_mark(spanprof_span number) {
  sp_span *span = number ? sp_span_get(number) : NULL;

  if (span)
    span->marked = span_sweep.pass;
}

static void sweep_mark_context(void *data, const spanprof_context *context) {
  uint32_t depth = atomic_load_explicit(&context->depth, memory_order_acquire);
  uint32_t i;

  (void)data;
  sweep_mark(atomic_load_explicit(&context->last_span, memory_order_relaxed));
  for (i = 0; i < depth; i++) {
    sweep_mark(
        atomic_load_explicit(&context->spans[i].carried, memory_order_relaxed));
    sweep_mark(
        atomic_load_explicit(&context->spans[i].span, memory_order_relaxed));
  }
}

static void sweep_put(uint32_t *list, sp_span *span, uint32_t at) {
  atomic_store_explicit(&span->next, *list, memory_order_relaxed);
  *list = at;
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
  sp_span_pool_release(number);
}

/* The lock is held. */
static void sweep_begin(void) {
  span_sweep.pass++;
  if (span_sweep.pass < 2)
    span_sweep.pass = 2;
  span_sweep.due = span_sweep.kept;
  span_sweep.kept = 0;
  span_sweep.older = span_sweep.young;
  atomic_store_explicit(&span_sweep.ended_count, 0, memory_order_relaxed);
  span_sweep.young =
      atomic_exchange_explicit(&span_sweep.ended, 0, memory_order_acquire);
  span_sweep.again = false;
  sp_context_each(sweep_mark_context, NULL);
}

/* Called when `due` is empty: continue with the next list. Returns false at the
 * end of the pass. The lock is held. */
static bool sweep_advance(void) {
  if (span_sweep.older) {
    span_sweep.due = span_sweep.older;
    span_sweep.older = 0;
    return true;
  }
  /* Spans that had references are examined once more in the same pass, in the
   * opposite order (sweep_put() prepends). A parent that was examined before
   * its last child the first time comes after it the second time. So a chain of
   * ended spans is freed in one pass, whatever the order in which they
   * ended. */
  if (span_sweep.referred) {
    span_sweep.due = span_sweep.referred;
    span_sweep.referred = 0;
    span_sweep.again = true;
    return true;
  }
  return false;
}

/* The lock is held. */
static void sweep_examine(uint32_t at) {
  sp_span *span = sp_span_at(at - 1);
  spanprof_span number = sweep_number(span, at - 1);

  if (span->marked == span_sweep.pass || span->marked == span_sweep.pass - 1)
    sweep_put(&span_sweep.kept, span, at);
  else if (sp_span_table_remove(span, number))
    sp_span_sweep_free(span, number);
  else
    sweep_put(span_sweep.again ? &span_sweep.kept : &span_sweep.referred, span,
              at);
}

/* Run one slice; begins a pass if the last one has finished. Returns false at
 * the end of the pass. The lock is held. */
static bool sweep_slice(void) {
  uint32_t left = SWEEP_SLICE;

  if (!span_sweep.running)
    sweep_begin();
  span_sweep.running = true;
  while (left > 0 && span_sweep.running) {
    uint32_t at = span_sweep.due;

    if (at) {
      span_sweep.due =
          atomic_load_explicit(&sp_span_at(at - 1)->next, memory_order_relaxed);
      sweep_examine(at);
      left--;
    } else {
      span_sweep.running = sweep_advance();
    }
  }
  return span_sweep.running;
}

void sp_span_sweep(void) {
  uint32_t first = 0;
  bool running = true;

  sp_span_fork_ready();
  while (running) {
    pthread_mutex_lock(&span_sweep.lock);
    running = sweep_slice();
    first = first ? first : span_sweep.pass;
    /* Threads that end spans also run slices: `running` may be true because of
     * a later pass. */
    running = running && span_sweep.pass - first < 2;
    pthread_mutex_unlock(&span_sweep.lock);
  }
}

/* Run a slice on a thread that ends spans. */
static void sweep_help(uint32_t count) {
  if (count >= SWEEP_ENDED_PRESSING)
    pthread_mutex_lock(&span_sweep.lock);
  else if (pthread_mutex_trylock(&span_sweep.lock) != 0)
    return;
  sweep_slice();
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
  /* Help only after as many ended spans as there are contexts, so that the cost
   * of walking the contexts stays proportional. */
  if (SP_UNLIKELY(
          count >= SWEEP_ENDED_MAX && count >= sp_context_count() &&
          (count >= SWEEP_ENDED_OWNED_MAX ||
           !atomic_load_explicit(&span_sweep.owned, memory_order_relaxed))))
    sweep_help(count);
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
