#include "span_sweep.h"

#include <pthread.h>

#include "label/context.h"
#include "span.h"
#include "span_fork.h"
#include "span_name.h"
#include "span_table.h"

/* Protocol: a thread that ends a span adds it to a list without a lock. Each
 * pass of the sweep takes over that list for the next pass, and marks every
 * span that is on a context's stack. The pass then examines the list that the
 * previous pass took over. It frees those spans that were on no stack in this
 * pass and in the previous one, and that have no references. (A span may move
 * from one stack to another unseen by one pass, but hardly by two.)
 *
 * A pass consists of slices, each of which runs under the lock. The collector
 * runs a pass every second. If more spans end than the collector frees, the
 * threads that end spans help. Each call does at most one slice of work, which
 * frees more spans than the one span that the thread adds, so ended spans do
 * not accumulate at any rate. */

/* Number of spans of a slice; a slice takes some 40 us. */
#define SWEEP_SLICE 256u

/* A thread that ends a span helps if this many spans have ended since the pass
 * began. The first number applies without a collector, the second with a
 * collector. From the third number on, the thread also waits for the lock. */
#define SWEEP_ENDED_MAX       1024u
#define SWEEP_ENDED_OWNED_MAX (1u << 18)
#define SWEEP_ENDED_PRESSING  (1u << 20)

/* Process-wide, because spans are process-wide. A list is the place + 1 of its
 * first span. */
static struct {
  /* Any thread writes these fields. */
  _Atomic uint32_t ended;
  /* Number of spans that ended since the last pass began. */
  _Atomic uint32_t ended_count;
  _Atomic bool owned;
  /* Guards the fields below. */
  pthread_mutex_t lock;
  /* Spans that ended before this pass began; the next pass examines them. */
  uint32_t young;
  /* Spans that ended before the last pass began; this pass examines them. */
  uint32_t older;
  uint32_t due; /* spans that this pass has not examined yet */
  /* Spans that had references when they were examined. They are examined again,
   * because a descendant may have been freed after that. */
  uint32_t referred;
  uint32_t kept; /* spans that the next pass examines again */
  /* Number of the pass. It is never 0 or 1, because a span whose mark is 0
   * would then count as marked in the last two passes. */
  uint32_t pass;
  bool running; /* a pass has begun and has not finished */
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

/* Begin a pass. The caller holds `span_sweep.lock`. */
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

/* Continue with the next list when `due` is empty. Returns false at the end of
 * the pass. The caller holds `span_sweep.lock`. */
static bool sweep_advance(void) {
  if (span_sweep.older) {
    span_sweep.due = span_sweep.older;
    span_sweep.older = 0;
    return true;
  }
  /* Spans that had references are examined once more in the same pass, in the
   * opposite order (sweep_put() prepends). If a parent was examined before its
   * last child the first time, it is examined after that child the second time.
   * So a chain of ended spans is freed in one pass, in whatever order they
   * ended. */
  if (span_sweep.referred) {
    span_sweep.due = span_sweep.referred;
    span_sweep.referred = 0;
    span_sweep.again = true;
    return true;
  }
  return false;
}

/* Free a span, or put it on a list. The caller holds `span_sweep.lock`. */
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

/* Run one slice. If the last pass has finished, begin another one. Returns
 * false at the end of the pass. The caller holds `span_sweep.lock`. */
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
    /* Stop after two passes: threads that end spans also run slices, so
     * `running` may belong to a later pass. */
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
  /* Help only after at least as many spans have ended as there are contexts,
   * because a pass visits all contexts. */
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
