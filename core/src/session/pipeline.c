#include "pipeline.h"

#include <inttypes.h>
#include <string.h>

#include "label/label_set.h"
#include "options.h"
#include "sampler/handler/runtime.h"
#include "settings/environment.h"
#include "span/span.h"
#include "util/memory/buffer.h"
#include "util/system/counters.h"
#include "util/system/status.h"

/* Tell the exporter which language runtime was registered last. */
static void runtime_report(sp_pipeline *pipeline) {
  char name[SP_RUNTIME_TEXT_BYTES], version[SP_RUNTIME_TEXT_BYTES];
  uint32_t number = sp_runtime_identity(name, version);

  if (number == pipeline->runtime_reported)
    return;
  if (!sp_exporter_runtime_set(pipeline->exporter, name, version))
    pipeline->runtime_reported = number;
}

/* Called on the collector thread with each part of a profile. */
static void part_push(void *data, sp_encoded *part) {
  sp_pipeline *pipeline = data;

  runtime_report(pipeline);
  sp_exporter_push(pipeline->exporter, part);
}

/* Called on the collector thread when it finishes after a stop that did not
 * wait for it. */
static void pipeline_abandoned(void *data) {
  const sp_pipeline *pipeline = data;

  pipeline->on_abandoned(pipeline->abandoned_data);
}

/* Start the exporter and then the collector, which uses it, with the settings
 * that were read. */
static spanprof_status parts_start(sp_pipeline *pipeline) {
  sp_collector_config config = {.settings = &pipeline->settings,
                                .clock = pipeline->clock,
                                .log = &pipeline->log,
                                .emit = part_push,
                                .on_abandoned = pipeline_abandoned,
                                .emit_data = pipeline};
  spanprof_status st;

  sp_label_values_max_set((uint32_t)pipeline->settings.label_values_max);
  st = sp_span_defaults_set(&pipeline->settings);
  if (!st)
    st = sp_exporter_new(&pipeline->exporter, pipeline->mem,
                         &pipeline->settings, pipeline->clock, &pipeline->log);
  if (st)
    return st;
  st = sp_collector_start(&pipeline->collector, pipeline->mem, &config);
  if (!st)
    sp_exporter_query_links(pipeline->exporter, sp_span_links_open);
  else
    sp_exporter_stop(pipeline->exporter,
                     sp_clock_monotonic_ns(pipeline->clock));
  return st;
}

/* Log each line of `notes`. Changes `notes`. */
static void notes_log(sp_log *log, char *notes) {
  char *line, *rest = NULL;

  for (line = strtok_r(notes, "\n", &rest); line;
       line = strtok_r(NULL, "\n", &rest))
    sp_log_line(log, SPANPROF_LOG_WARN, "%s", line);
}

/* Read the options into pipeline->settings, and log the notes about them. */
static spanprof_status settings_read(sp_pipeline *pipeline,
                                     const spanprof_options *options) {
  sp_buffer notes;
  spanprof_status st;

  sp_buffer_init(&notes, pipeline->mem);
  st = sp_settings_read(&pipeline->settings, pipeline->mem, options,
                        sp_environment_own(), &notes);
  if (!st) {
    const sp_settings *settings = &pipeline->settings;

    sp_counters_reset();
    sp_count(&sp_counts.labels_cleaned, settings->labels_cleaned);
    sp_log_init(&pipeline->log, settings->log, settings->log_data,
                settings->log_level, pipeline->clock);
    if (notes.size > 0 && !sp_buffer_status(&notes))
      notes_log(&pipeline->log, notes.data);
  }
  sp_buffer_dispose(&notes);
  return st;
}

/* Log the application's name and the destinations of its profiles, and a
 * warning if there is no destination. */
static void start_log(const sp_settings *settings, int signal_number,
                      sp_log *log, const sp_mem *mem) {
  sp_buffer line;
  size_t i;

  sp_buffer_init(&line, mem);
  if (settings->name_open)
    sp_buffer_text(&line, "profiling the service that the first span names");
  else
    sp_buffer_format(&line, "profiling \"%s\"", settings->application_name);
  sp_buffer_format(&line, " at %" PRIu64 " Hz with signal %d",
                   settings->sample_rate_hz, signal_number);
  if (settings->server_address)
    sp_buffer_format(&line, ", to %s every %.3g s", settings->server_address,
                     (double)settings->upload_interval_ms / 1e3);
  if (settings->output_directory)
    sp_buffer_format(&line, ", to files in %s", settings->output_directory);
  for (i = 0; i < settings->label_count; i++)
    sp_buffer_format(&line, "%s%s=%s", i ? ", " : ", labels ",
                     settings->labels[i].name, settings->labels[i].value);
  if (!sp_buffer_status(&line))
    sp_log_line(log, SPANPROF_LOG_INFO, "%s", line.data);
  sp_buffer_dispose(&line);
  if (!settings->server_address && !settings->output_directory &&
      !settings->on_profile)
    sp_log_line(log, SPANPROF_LOG_WARN,
                "profiles are neither sent nor stored: set server_address, "
                "output_directory or on_profile");
}

spanprof_status sp_pipeline_start(sp_pipeline *pipeline, const sp_mem *mem,
                                  const spanprof_options *options,
                                  void (*on_abandoned)(void *data),
                                  void *data) {
  spanprof_status st;

  pipeline->mem = mem;
  pipeline->clock = sp_clock_system();
  pipeline->on_abandoned = on_abandoned;
  pipeline->abandoned_data = data;
  st = settings_read(pipeline, options);
  if (st)
    return st;
  st = parts_start(pipeline);
  if (st) {
    sp_settings_dispose(&pipeline->settings);
    return st;
  }
  start_log(&pipeline->settings, sp_collector_signal(pipeline->collector),
            &pipeline->log, mem);
  return SPANPROF_OK;
}

void sp_pipeline_dispose(sp_pipeline *pipeline) {
  sp_settings_dispose(&pipeline->settings);
}
