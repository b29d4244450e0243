/* The labels that name the process and thread of a sample, if the options
 * report_pid, report_thread_id and report_thread_name enable them. thread_id
 * and thread_name are the kernel's; the name has at most 15 bytes. All
 * functions are called on the collector thread. */
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

/* `settings` must outlive `labels`. */
void sp_thread_labels_init(sp_thread_labels *labels,
                           const sp_settings *settings);

/* Return `set` plus the enabled labels of the thread `tid`. A label is omitted
 * if there is no memory for it, or if a limit of labels is reached. */
spanprof_labels sp_thread_labels_get(sp_thread_labels *labels, uint32_t tid,
                                     spanprof_labels set);

/* Empty the cache, because names of threads change and thread ids are reused.
 */
void sp_thread_labels_clear(sp_thread_labels *labels);

#endif
