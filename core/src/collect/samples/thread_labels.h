/* The labels that say where a sample was taken: pid, thread_id (the kernel's),
 * thread_name (the kernel's, of 15 bytes), as far as the options ask for them.
 * Collector only. */
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

/* The set with them; what there is no memory or room for is left out. */
spanprof_labels sp_thread_labels_get(sp_thread_labels *labels, uint32_t tid,
                                     spanprof_labels set);

/* Names change, numbers are used again: ask anew from here on. */
void sp_thread_labels_clear(sp_thread_labels *labels);

#endif
