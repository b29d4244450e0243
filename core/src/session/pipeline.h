/* From the options to what runs: the settings, the collector, and the exporter
 * that the collector hands its profiles to. */
#ifndef SP_PIPELINE_H
#define SP_PIPELINE_H

#include "collect/collector.h"
#include "export/exporter.h"

typedef struct sp_pipeline {
  /* Fixed after the start. */
  const sp_mem *mem;
  const sp_clock *clock;
  sp_settings settings;
  sp_log log;
  sp_exporter *exporter;
  sp_collector *collector;
  void (*left)(void *data);
  void *left_data;
  /* The collector's thread alone. */
  uint32_t runtime_reported;
} sp_pipeline;

/* `pipeline` is all zero. `left` is called with `data` by a collector's thread
 * that a stop left behind, as the last that uses the pipeline. On failure
 * nothing runs and there is nothing to dispose of. */
spanprof_status sp_pipeline_start(sp_pipeline *pipeline, const sp_mem *mem,
                                  const spanprof_options *options,
                                  void (*left)(void *data), void *data);

/* After its collector and its exporter were stopped. */
void sp_pipeline_dispose(sp_pipeline *pipeline);

#endif
