#include "start_log.h"

#include <inttypes.h>
#include <string.h>

#include "util/memory/buffer.h"

void sp_start_log_notes(sp_log *log, char *notes) {
  char *line, *rest = NULL;

  for (line = strtok_r(notes, "\n", &rest); line;
       line = strtok_r(NULL, "\n", &rest))
    sp_log_line(log, SPANPROF_LOG_WARN, "%s", line);
}

void sp_start_log_line(const sp_settings *settings, int signal_number,
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
                "profiles go nowhere: neither server_address nor "
                "output_directory nor on_profile is given");
}
