#include "label_room.h"

#include "context.h"
#include "label_node.h"
#include "span.h"
#include "span_id.h"
#include "span_name.h"
#include "span_rules.h"
#include "span_sweep.h"
#include "span_table.h"
#include "text.h"
#include "tls.h"

#include "../util/fork_hooks.h"

#include <string.h>

/* Locks are taken in the order in which the room's functions nest them: the
 * sweep before the table and names, rules before nothing of ours. */
void sp_label_before_fork(void) {
  sp_context_lock();
  sp_span_rules_lock();
  sp_span_sweep_lock();
  sp_span_table_lock();
  sp_span_name_lock();
  sp_span_pool_lock();
  sp_text_lock();
}

void sp_label_after_fork_parent(void) {
  sp_text_unlock();
  sp_span_pool_unlock();
  sp_span_name_unlock();
  sp_span_table_unlock();
  sp_span_sweep_unlock();
  sp_span_rules_unlock();
  sp_context_unlock();
}

void sp_label_after_fork_child(void) {
  sp_context_forked();
  sp_span_id_forked();
  sp_label_after_fork_parent();
}

void sp_label_fork_ready(void) {
  static const sp_fork_hooks hooks = {
      .before = sp_label_before_fork,
      .parent = sp_label_after_fork_parent,
      .child = sp_label_after_fork_child,
  };

  sp_fork_hooks_set(SP_FORK_LABEL, &hooks);
}

void sp_label_room_reset(const sp_mem *mem) {
  sp_self *self = sp_tls_get();
  int i;

  if (self) {
    spanprof_context *context = atomic_load(&self->context);

    memset(&self->cache, 0, sizeof self->cache);
    /* What was active last is kept for the thread's end. */
    atomic_store(&context->spans[0].carried, 0);
    atomic_store(&context->spans[0].span, 0);
  }
  /* An ended span outlives two sweeps, its parent one more a generation. */
  for (i = 0; i < 8; i++)
    sp_span_sweep();
  sp_text_reset(mem);
  sp_label_node_reset();
  sp_span_name_reset(mem);
  sp_span_table_reset(mem);
}
