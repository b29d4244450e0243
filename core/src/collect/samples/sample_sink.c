#include "sample_sink.h"

#include "label/span_record.h"

spanprof_status sp_sink_new(sp_sink **out, const sp_mem *mem,
                            const sp_namer *namer, const sp_settings *settings,
                            const sp_selection *selection) {
  sp_sink *sink = sp_mem_zero(mem, sizeof *sink);
  spanprof_status st;

  *out = NULL;
  if (!sink)
    return SPANPROF_ERR_NOMEM;
  sink->mem = mem;
  sink->selection = *selection;
  sp_span_set_init(&sink->spans, mem);
  st = sp_profile_new(&sink->profile, mem, namer, settings);
  if (st) {
    sp_sink_free(sink);
    return st;
  }
  *out = sink;
  return SPANPROF_OK;
}

void sp_sink_free(sp_sink *sink) {
  if (!sink)
    return;
  sp_span_set_clear(&sink->spans);
  sp_span_set_dispose(&sink->spans);
  sp_profile_free(sink->profile);
  sp_mem_free(sink->mem, sink);
}

bool sp_sink_is_marked(const sp_sink *sink) {
  return sink->selection.mark != 0;
}

/* Is `span` equal to `outer`, or a descendant of `outer`? */
static bool span_within(spanprof_span span, spanprof_span outer) {
  size_t i;

  for (i = 0; span && i <= SP_SPAN_CHAIN_MAX; i++) {
    const sp_span *record = sp_span_get(span);

    if (span == outer)
      return true;
    span = record ? atomic_load_explicit(&record->parent, memory_order_relaxed)
                  : 0;
  }
  return false;
}

bool sp_sink_selects(const sp_sink *sink, const sp_sample *sample) {
  switch (sink->selection.scope) {
  case SPANPROF_RECORDING_ALL:
    return true;
  case SPANPROF_RECORDING_THREAD:
    return sample->tid == sink->selection.tid;
  case SPANPROF_RECORDING_SPAN:
    return span_within(sample->span, sink->selection.carried);
  default:
    return false;
  }
}

spanprof_status sp_sink_add(sp_sink *sink, const sp_frame *frames, size_t count,
                            const sp_sample *sample, spanprof_labels labels,
                            uint64_t cpu_ns) {
  spanprof_status st = sp_profile_add(sink->profile, frames, count, labels,
                                      sample->span, 1, sample->ticks, cpu_ns);

  if (st)
    sink->st = st;
  else
    sp_span_set_add(&sink->spans, sample->span);
  return st;
}

void sp_sink_reset(sp_sink *sink) {
  sp_profile_reset(sink->profile);
  sp_span_set_clear(&sink->spans);
}
