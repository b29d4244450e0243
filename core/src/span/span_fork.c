#include "span_fork.h"

#include "span_id.h"
#include "span_name.h"
#include "span_pool.h"
#include "span_rules.h"
#include "span_sweep.h"
#include "span_table.h"
#include "util/system/fork_hooks.h"

/* Take the locks in the order in which this folder's functions nest them: the
 * sweep's lock before the locks of the table and the names. The rules' lock is
 * never held together with another lock. */
static void span_before_fork(void) {
  sp_span_rules_lock();
  sp_span_sweep_lock();
  sp_span_table_lock();
  sp_span_name_lock();
  sp_span_pool_lock();
}

static void span_after_fork_parent(void) {
  sp_span_pool_unlock();
  sp_span_name_unlock();
  sp_span_table_unlock();
  sp_span_sweep_unlock();
  sp_span_rules_unlock();
}

static void span_after_fork_child(void) {
  sp_span_id_forked();
  span_after_fork_parent();
}

void sp_span_fork_ready(void) {
  static const sp_fork_hooks hooks = {
      .before = span_before_fork,
      .parent = span_after_fork_parent,
      .child = span_after_fork_child,
  };

  sp_fork_hooks_set(SP_FORK_SPAN, &hooks);
}
