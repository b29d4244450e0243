#include "label_fork.h"

#include "context.h"
#include "text.h"
#include "util/system/fork_hooks.h"

static void label_before_fork(void) {
  sp_context_lock();
  sp_text_lock();
}

static void label_after_fork_parent(void) {
  sp_text_unlock();
  sp_context_unlock();
}

static void label_after_fork_child(void) {
  sp_context_forked();
  label_after_fork_parent();
}

void sp_label_fork_ready(void) {
  static const sp_fork_hooks hooks = {
      .before = label_before_fork,
      .parent = label_after_fork_parent,
      .child = label_after_fork_child,
  };

  sp_fork_hooks_set(SP_FORK_LABEL, &hooks);
}
