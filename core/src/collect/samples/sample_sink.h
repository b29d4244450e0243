/* A sink is a receiver of samples: the session's window, or a recording. It
 * owns the profile of its samples, and retains their spans until the profile is
 * encoded. All functions are called on the collector thread. */
#ifndef SP_SAMPLE_SINK_H
#define SP_SAMPLE_SINK_H

#include "profile/profile.h"
#include "sampler/capture.h"
#include "span_set.h"

/* Selects the samples of a sink. */
typedef struct sp_selection {
  spanprof_recording_scope scope;
  uint32_t tid; /* for the scope THREAD */
  /* For the scope SPAN: a sample is selected if it has the id of this span or
   * of a descendant. */
  spanprof_span carried;
  spanprof_mark mark;  /* for the scopes CONTEXT and MARK */
  spanprof_mark outer; /* mark of the enclosing recording */
  bool no_native_frames;
} sp_selection;

typedef struct sp_sink {
  struct sp_sink *next; /* next sink without a mark */
  /* Next in the list of all sinks; the window's sink is the first. */
  struct sp_sink *next_open;
  const sp_mem *mem;
  sp_selection selection;
  sp_profile *profile;
  sp_span_set spans;
  spanprof_status st; /* status of the last failure to add a sample */
} sp_sink;

/* Create a sink. Returns SPANPROF_OK or SPANPROF_ERR_NOMEM. */
spanprof_status sp_sink_new(sp_sink **out, const sp_mem *mem,
                            const sp_namer *namer, const sp_settings *settings,
                            const sp_selection *selection);
void sp_sink_free(sp_sink *sink); /* may be NULL */

/* Does the sink select samples by a mark? */
bool sp_sink_is_marked(const sp_sink *sink);

/* Does a sink without a mark select the sample? */
bool sp_sink_selects(const sp_sink *sink, const sp_sample *sample);

/* Add a sample to the sink's profile. `frames` is the stack that
 * sp_profile_add() receives; `labels` includes the labels of the thread. */
spanprof_status sp_sink_add(sp_sink *sink, const sp_frame *frames, size_t count,
                            const sp_sample *sample, spanprof_labels labels,
                            uint64_t cpu_ns);

/* Discard the samples and release their spans. */
void sp_sink_reset(sp_sink *sink);

#endif
