#include "span_sweep.h"

#include <pthread.h>

#include "label/context.h"
#include "span.h"
#include "span_fork.h"
#include "span_name.h"
#include "span_table.h"

/* Protocol: who ends a span puts it on a list without a lock. A pass of the
 * sweep takes that list for the next pass, marks every span that stands on a
 * stack, and frees, of the list that the last pass took, those that it found on
 * no stack in this pass and the last (a span may move from one stack to another
 * behind the sweep's back, but hardly twice), and that nothing refers to.
 *
 * A pass goes in slices, each under the lock, by whoever comes: the collector
 * every second, and, where more spans end than it frees, the threads that end
 * them. Each of those does a slice's work at most, which frees more than the
 * one span it adds, so that ended spans do not pile up at any rate. */

#define SWEEP_SLICE 256u /* spans: some 40 us */

/* Spans that ended since a pass began before a thread helps: without a
 * collector, beside one, and where helping by turns is not enough. */
#define SWEEP_ENDED_MAX       1024u
#define SWEEP_ENDED_OWNED_MAX (1u << 18)
#define SWEEP_ENDED_PRESSING  (1u << 20)

/* Process-wide, as spans are. Lists are given as place + 1 of the first. */
static struct {
  /* Written by any thread. */
  _Atomic uint32_t ended;
  _Atomic uint32_t ended_count; /* since the last pass began */
  _Atomic bool owned;
  /* Guarded by lock. */
  pthread_mutex_t lock;
  uint32_t young;    /* ended before this pass began: for the next */
  uint32_t older;    /* before the last one: for this pass */
  uint32_t due;      /* of this pass, not looked at */
  uint32_t referred; /* looked at once: a descendant may have gone since */
  uint32_t kept;     /* for the next pass */
  uint32_t pass;     /* number; 0 and 1 would look like "just marked" */
  bool running;      /* in the middle of a pass */
  bool again;        /* due are those that were referred to */
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

/* Lock held. */
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

/* After the last of `due`: more of the pass. False: this was its end. Lock
 * held. */
static bool sweep_advance(void) {
  if (span_sweep.older) {
    span_sweep.due = span_sweep.older;
    span_sweep.older = 0;
    return true;
  }
  /* Spans that something referred to are looked at once more in the same pass,
   * in the opposite order (sweep_put() puts at the front). A parent that was
   * looked at before its last child in the first look comes after it in the
   * second, so a chain of ended spans is freed in one pass, in whatever order
   * its spans ended. */
  if (span_sweep.referred) {
    span_sweep.due = span_sweep.referred;
    span_sweep.referred = 0;
    span_sweep.again = true;
    return true;
  }
  return false;
}

/* Lock held. */
static void sweep_look(uint32_t at) {
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

/* Where the last pass is over, this begins one. False: the pass is over. Lock
 * held. */
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
      sweep_look(at);
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
    /* Others end passes too. */
    running = running && span_sweep.pass - first < 2;
    pthread_mutex_unlock(&span_sweep.lock);
  }
}

/* A thread that ends spans lends a hand. */
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
  /* In proportion to the contexts, so that walking them costs no more. */
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
