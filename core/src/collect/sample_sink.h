/* A receiver of samples: the session's window, or a recording. It has the
 * profile that they are added to and keeps their spans known. On the
 * collector's thread alone. */
#ifndef SP_SAMPLE_SINK_H
#define SP_SAMPLE_SINK_H

#include "../profile/profile.h"
#include "../sampler/capture.h"
#include "span_set.h"

/* The samples that a sink receives. */
typedef struct sp_wanted {
  spanprof_recording_scope scope;
  uint32_t tid;          /* of the scope THREAD */
  spanprof_span carried; /* of the scope SPAN: whose id its samples carry */
  spanprof_mark mark;    /* of the scopes CONTEXT and MARK */
  spanprof_mark outer;   /* of the recording around it */
  bool no_native_frames;
} sp_wanted;

typedef struct sp_sink {
  struct sp_sink *next; /* of those that are found by no mark */
  const sp_mem *mem;
  sp_wanted wanted;
  sp_profile *profile;
  sp_span_set spans;
  spanprof_status st; /* of the last sample that could not be added */
} sp_sink;

/* SPANPROF_ERR_NOMEM. */
spanprof_status sp_sink_new(sp_sink **out, const sp_mem *mem,
                            const sp_namer *namer, const sp_settings *settings,
                            const sp_wanted *wanted);
void sp_sink_free(sp_sink *sink); /* NULL is fine */

/* Is it found by the mark of a sample? */
bool sp_sink_is_marked(const sp_sink *sink);

/* Does one that is not want the sample? */
bool sp_sink_wants(const sp_sink *sink, const sp_sample *sample);

/* Add a sample with the labels of its thread; `frames` as sp_profile_add(). */
spanprof_status sp_sink_add(sp_sink *sink, const sp_frame *frames, size_t count,
                            const sp_sample *sample, spanprof_label_set labels,
                            uint64_t cpu_ns);

/* Forget the samples, and let their spans go. */
void sp_sink_reset(sp_sink *sink);

#endif
