/* Labels for the origin of a sample, if the options enable them: pid, thread_id
 * (the kernel's), thread_name (the kernel's, 15 bytes). Used by the collector's
 * thread. */
#ifndef SP_THREAD_LABELS_H
#define SP_THREAD_LABELS_H

#include "settings/settings.h"

#define SP_THREAD_LABELS_KNOWN 64u

typedef struct sp_thread_labels {
  const sp_settings *settings;
  struct {
    uint32_t tid; /* 0: free */
    spanprof_labels labels;
    spanprof_labels set;
  } known[SP_THREAD_LABELS_KNOWN];
} sp_thread_labels;

/* `settings` outlives it. */
void sp_thread_labels_init(sp_thread_labels *labels,
                           const sp_settings *settings);

/* Return `set` with these labels. A label is omitted without memory, or beyond
 * a limit. */
spanprof_labels sp_thread_labels_get(sp_thread_labels *labels, uint32_t tid,
                                     spanprof_labels set);

/* Empty the cache, because names change and thread ids are reused. */
void sp_thread_labels_clear(sp_thread_labels *labels);

#endif
