/* The stack of active spans: the public functions that enter and leave
 * spans. */
#include "context.h"
#include "span_record.h"
#include "tls.h"
#include "util/system/counters.h"
#include "util/system/status.h"

/* A token consists of the context's number (24 bits), the serial of the enter
 * (32 bits) and the stack's depth before the enter (8 bits). So a token matches
 * no other entry of a stack: neither an entry in another context nor a later
 * entry at the same depth. A context's number repeats after 16 million
 * contexts, and a serial after 2^32 enters; only a token that is kept for that
 * long can match a wrong entry. Context numbers start at 1, so 0 is not a token
 * before the numbers repeat. */
#define ACTIVE_NUMBER_SHIFT 40
#define ACTIVE_SERIAL_SHIFT 8
#define ACTIVE_DEPTH_MASK   UINT64_C(0xff)

SP_SIGNAL_SAFE spanprof_status spanprof_span_enter(spanprof_span span,
                                                   spanprof_span_token *out) {
  sp_self *self = sp_tls_get();
  spanprof_context *context;
  uint32_t depth, serial;
  spanprof_span carried;

  if (SP_UNLIKELY(!self)) {
    self = sp_self_attach();
    if (!self) {
      *out = 0;
      return sp_fail(SPANPROF_ERR_NOMEM, "no memory for this thread's spans");
    }
  }
  context = atomic_load_explicit(&self->context, memory_order_relaxed);
  depth = atomic_load_explicit(&context->depth, memory_order_relaxed);
  if (SP_UNLIKELY(depth >= SP_SPAN_DEPTH)) {
    sp_count(&sp_counts.spans_unbalanced, 1);
    *out = 0;
    return SPANPROF_ERR_LIMIT;
  }
  carried = sp_span_carried(span);
  serial = atomic_load_explicit(&context->serial, memory_order_relaxed) + 1;
  atomic_store_explicit(&context->serial, serial, memory_order_relaxed);
  do {
    atomic_store_explicit(&context->spans[depth].carried, carried,
                          memory_order_relaxed);
    atomic_store_explicit(&context->spans[depth].span, span,
                          memory_order_relaxed);
    atomic_store_explicit(&context->serials[depth], serial,
                          memory_order_relaxed);
    atomic_signal_fence(memory_order_release);
    atomic_store_explicit(&context->depth, depth + 1, memory_order_relaxed);
    atomic_signal_fence(memory_order_acq_rel);
    /* Repeat if a signal handler has used the same entry of the stack while it
     * was being written. */
  } while (SP_UNLIKELY(atomic_load_explicit(&context->serials[depth],
                                            memory_order_relaxed) != serial));
  *out = (uint64_t)context->number << ACTIVE_NUMBER_SHIFT |
         (uint64_t)serial << ACTIVE_SERIAL_SHIFT | depth;
  return SPANPROF_OK;
}

SP_SIGNAL_SAFE void spanprof_span_leave(spanprof_span_token token) {
  uint32_t before = (uint32_t)(token & ACTIVE_DEPTH_MASK);
  uint32_t serial = (uint32_t)(token >> ACTIVE_SERIAL_SHIFT);
  sp_self *self = sp_tls_get();
  spanprof_context *context;

  if (SP_UNLIKELY(token == 0))
    return; /* spanprof_span_enter() failed, and counted this itself */
  if (SP_LIKELY(self != NULL)) {
    context = atomic_load_explicit(&self->context, memory_order_relaxed);
    if (SP_LIKELY((uint64_t)context->number << ACTIVE_NUMBER_SHIFT >>
                          ACTIVE_NUMBER_SHIFT ==
                      token >> ACTIVE_NUMBER_SHIFT &&
                  before < atomic_load_explicit(&context->depth,
                                                memory_order_relaxed) &&
                  atomic_load_explicit(&context->serials[before],
                                       memory_order_relaxed) == serial)) {
      atomic_signal_fence(memory_order_release);
      atomic_store_explicit(&context->depth, before, memory_order_relaxed);
      if (before == 0)
        atomic_store_explicit(&self->own.last_span,
                              atomic_load_explicit(&context->spans[0].carried,
                                                   memory_order_relaxed),
                              memory_order_relaxed);
      return;
    }
  }
  sp_count(&sp_counts.spans_unbalanced, 1);
}

SP_SIGNAL_SAFE spanprof_span spanprof_span_active(void) {
  const sp_self *self = sp_tls_get();
  const spanprof_context *context;
  uint32_t depth;

  if (!self)
    return 0;
  context = atomic_load_explicit(&self->context, memory_order_relaxed);
  depth = atomic_load_explicit(&context->depth, memory_order_relaxed);
  return depth ? atomic_load_explicit(&context->spans[depth - 1].span,
                                      memory_order_relaxed)
               : 0;
}
