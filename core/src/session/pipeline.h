/* The parts of a session: the settings, the collector, and the exporter that
 * receives the collector's profiles. */
#ifndef SP_PIPELINE_H
#define SP_PIPELINE_H

#include "collect/collector.h"
#include "export/exporter.h"

typedef struct sp_pipeline {
  /* Fixed after sp_pipeline_start(). */
  const sp_mem *mem;
  const sp_clock *clock;
  sp_settings settings;
  sp_log log;
  sp_exporter *exporter;
  sp_collector *collector;
  void (*on_abandoned)(void *data);
  void *abandoned_data;
  /* Used only by the collector thread. */
  uint32_t runtime_reported;
} sp_pipeline;

/* Start the exporter and the collector of a zeroed `pipeline`. If a stop does
 * not wait for the collector thread, that thread calls `on_abandoned` with
 * `data` when it no longer uses the pipeline. If the function fails, no part
 * runs, and the pipeline need not be disposed of. */
spanprof_status sp_pipeline_start(sp_pipeline *pipeline, const sp_mem *mem,
                                  const spanprof_options *options,
                                  void (*on_abandoned)(void *data), void *data);

/* Free the settings. The collector and the exporter must have been stopped. */
void sp_pipeline_dispose(sp_pipeline *pipeline);

#endif
