#include "thread_labels.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "label/label_node.h"
#include "sampler/handler/task_file.h"
#include "util/memory/hash.h"
#include "util/system/counters.h"

void sp_thread_labels_init(sp_thread_labels *labels,
                           const sp_settings *settings) {
  *labels = (sp_thread_labels){.settings = settings};
}

static spanprof_labels set_with(spanprof_labels set, const char *name,
                                const char *value) {
  /* If this fails, `set` does not change, and the failure is counted. */
  (void)spanprof_labels_derive(set, name, strlen(name), value, strlen(value),
                               &set);
  return set;
}

static spanprof_labels set_with_number(spanprof_labels set, const char *name,
                                       uint32_t number) {
  char value[16];

  snprintf(value, sizeof value, "%u", number);
  return set_with(set, name, value);
}

/* Add the label thread_name. The file /proc/self/task/TID/comm has the name and
 * a newline (proc(5)). It does not exist for a thread that has ended; then no
 * label is added. */
static spanprof_labels set_with_name(spanprof_labels set, uint32_t tid) {
  char name[64];
  size_t bytes = sp_task_file_read((int)tid, "comm", name, sizeof name);

  if (bytes <= 1)
    return set;
  name[bytes - 1] = '\0';
  return set_with(set, "thread_name", name);
}

/* Label sets are never freed, and each thread needs a set of its own for each
 * set of the application. So half of the nodes are reserved for the
 * application. */
#define THREAD_LABELS_NODES_MAX (SP_LABEL_NODES / 2)

static spanprof_labels labels_compose(const sp_settings *settings, uint32_t tid,
                                      spanprof_labels set) {
  if (sp_label_nodes_used() > THREAD_LABELS_NODES_MAX) {
    sp_count(&sp_counts.labels_capped, 1);
    return set;
  }
  if (settings->report_pid)
    set = set_with_number(set, "pid", (uint32_t)getpid());
  if (settings->report_thread_id)
    set = set_with_number(set, "thread_id", tid);
  if (settings->report_thread_name)
    set = set_with_name(set, tid);
  return set;
}

spanprof_labels sp_thread_labels_get(sp_thread_labels *labels, uint32_t tid,
                                     spanprof_labels set) {
  const sp_settings *settings = labels->settings;
  size_t at;

  if (!settings->report_pid && !settings->report_thread_id &&
      !settings->report_thread_name)
    return set;
  at = sp_hash_mix(tid, set) % SP_THREAD_LABELS_KNOWN;
  if (labels->known[at].tid != tid || labels->known[at].labels != set) {
    labels->known[at].set = labels_compose(settings, tid, set);
    labels->known[at].tid = tid;
    labels->known[at].labels = set;
  }
  return labels->known[at].set;
}

void sp_thread_labels_clear(sp_thread_labels *labels) {
  memset(labels->known, 0, sizeof labels->known);
}
