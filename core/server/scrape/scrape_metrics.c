#include <inttypes.h>

#include "scraper_inside.h"

typedef enum metrics_of {
  METRICS_UP,
  METRICS_SCRAPES,
  METRICS_FAILURES,
  METRICS_BYTES,
  METRICS_TOOK,
  METRICS_ERROR,
} metrics_of;

typedef struct metrics_family {
  metrics_of of;
  const char *name;
  const char *type;
  const char *help;
} metrics_family;

static const metrics_family metrics_families[] = {
    {METRICS_UP, "spanprof_scrape_up", "gauge",
     "1 if the last scrape of a profile was stored, otherwise 0."},
    {METRICS_SCRAPES, "spanprof_scrapes_total", "counter",
     "Finished scrapes of a profile."},
    {METRICS_FAILURES, "spanprof_scrape_failures_total", "counter",
     "Failed scrapes of a profile."},
    {METRICS_BYTES, "spanprof_scrape_bytes_total", "counter",
     "Bytes of the answers to scrapes of a profile."},
    {METRICS_TOOK, "spanprof_scrape_duration_seconds", "gauge",
     "Duration of the last scrape, including the time that the profile "
     "covers."},
    {METRICS_ERROR, "spanprof_scrape_last_error_info", "gauge",
     "Error of the last scrape of a profile, if it failed."},
};

/* Append a label with its value, escaped as the text format of Prometheus
 * requires. */
static void metrics_value(sp_buffer *out, const char *name, const char *value) {
  sp_buffer_format(out, "%s=\"", name);
  for (; *value; value++)
    if (*value == '\n')
      sp_buffer_text(out, "\\n");
    else if (*value == '"' || *value == '\\')
      sp_buffer_format(out, "\\%c", *value);
    else
      sp_buffer_append(out, value, 1);
  sp_buffer_text(out, "\"");
}

/* Returns whether the family of metrics has a line for the probe of this
 * report. */
static bool metrics_has(const metrics_family *family,
                        const sp_scrape_report *report) {
  if (report->state == SP_SCRAPE_NEW)
    return false;
  if (family->of == METRICS_ERROR)
    return report->state == SP_SCRAPE_DOWN;
  return family->of != METRICS_UP || report->state != SP_SCRAPE_ABSENT;
}

static void metrics_line(sp_buffer *out, const metrics_family *family,
                         const sp_scrape_probe *probe,
                         const sp_scrape_report *report) {
  const uint64_t counts[] = {[METRICS_UP] = report->state == SP_SCRAPE_UP,
                             [METRICS_SCRAPES] = report->scrapes,
                             [METRICS_FAILURES] = report->failures,
                             [METRICS_BYTES] = report->bytes,
                             [METRICS_TOOK] = 0,
                             [METRICS_ERROR] = 1};

  sp_buffer_format(out, "%s{", family->name);
  metrics_value(out, "job", probe->job);
  sp_buffer_text(out, ",");
  metrics_value(out, "instance", probe->instance);
  sp_buffer_text(out, ",");
  metrics_value(out, "profile", probe->kind.name);
  if (family->of == METRICS_ERROR) {
    sp_buffer_text(out, ",");
    metrics_value(out, "error", report->error);
  }
  if (family->of == METRICS_TOOK)
    sp_buffer_format(out, "} %.3f\n",
                     (double)report->took_ns / (double)SP_NS_PER_S);
  else
    sp_buffer_format(out, "} %" PRIu64 "\n", counts[family->of]);
}

void sp_scraper_metrics(sp_scraper *scraper, sp_buffer *out) {
  size_t i, k;

  if (!scraper)
    return;
  pthread_mutex_lock(&scraper->lock);
  for (i = 0; i < SP_COUNT_OF(metrics_families); i++) {
    const metrics_family *family = &metrics_families[i];

    sp_buffer_format(out, "# HELP %s %s\n# TYPE %s %s\n", family->name,
                     family->help, family->name, family->type);
    for (k = 0; k < scraper->plan->count; k++)
      if (metrics_has(family, &scraper->runs[k].report))
        metrics_line(out, family, scraper->runs[k].probe,
                     &scraper->runs[k].report);
  }
  pthread_mutex_unlock(&scraper->lock);
}
