/* Prometheus' text format:
 * https://prometheus.io/docs/instrumenting/exposition_formats/ */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "exported_metrics.h"

#define TEXT_NS_PER_S INT64_C(1000000000)

/* Append a text with escapes. Quotes are escaped only in values of labels. */
static void text_escape(sp_buffer *out, const char *text, bool quotes) {
  for (; *text; text++) {
    if (*text == '\n')
      sp_buffer_text(out, "\\n");
    else if (*text == '\\' || (quotes && *text == '"'))
      sp_buffer_format(out, "\\%c", *text);
    else
      sp_buffer_append(out, text, 1);
  }
}

static void text_label(sp_buffer *out, const char *name, const char *value,
                       bool *any) {
  if (!*value)
    return; /* Prometheus treats an empty label as missing */
  sp_buffer_format(out, "%c%s=\"", *any ? ',' : '{', name);
  text_escape(out, value, true);
  sp_buffer_text(out, "\"");
  *any = true;
}

/* Append a value as a decimal number without rounding. */
static void text_value(sp_buffer *out, const sp_metric_rule *rule,
                       int64_t value) {
  if (rule->seconds)
    sp_buffer_format(out, " %" PRId64 ".%09" PRId64 "\n", value / TEXT_NS_PER_S,
                     value % TEXT_NS_PER_S);
  else
    sp_buffer_format(out, " %" PRId64 "\n", value);
}

static void text_series(sp_buffer *out, const sp_metric_rule *rule,
                        const sp_exported_series *series) {
  bool any = false;
  size_t i;

  sp_buffer_text(out, rule->name);
  for (i = 0; i < rule->group_count; i++)
    text_label(out, rule->shown[i], series->values[i], &any);
  for (i = 0; i < rule->constant_count; i++)
    text_label(out, rule->constants[i].name, rule->constants[i].value, &any);
  if (any)
    sp_buffer_text(out, "}");
  text_value(out, rule, series->sum);
}

static void text_rule(const sp_exported_metrics *metrics, uint32_t number,
                      sp_buffer *out) {
  const sp_metric_rule *rule = &metrics->rules->rules[number];
  size_t i;

  sp_buffer_format(out, "# HELP %s Sum of ", rule->name);
  text_escape(out, rule->query, false);
  sp_buffer_text(out, " since the start");
  if (rule->function || rule->found.count) {
    sp_buffer_text(out, ", of stacks with ");
    text_escape(out,
                rule->function ? rule->function : rule->found.matchers[0].value,
                false);
  }
  sp_buffer_format(out, ", in %s.\n# TYPE %s counter\n",
                   rule->seconds ? "seconds" : "the unit of the profiles",
                   rule->name);
  for (i = 0; i < metrics->count; i++)
    if (metrics->series[i].rule == number)
      text_series(out, rule, &metrics->series[i]);
  /* Write 0 before there is a first value, so that Prometheus' rate() includes
   * the first increase. */
  if (rule->group_count == 0 && metrics->of_rules[number].series == 0)
    text_series(out, rule, &(sp_exported_series){.rule = number});
}

void sp_exported_metrics_write(sp_exported_metrics *metrics, sp_buffer *out) {
  const sp_metric_rules *rules = metrics->rules;
  uint32_t i;

  pthread_mutex_lock(&metrics->lock);
  for (i = 0; i < rules->count; i++)
    text_rule(metrics, i, out);
  sp_buffer_text(
      out,
      "# HELP spanprof_exported_metrics_overflow_total Sum of the values that "
      "are missing in a metric, because it has the maximum number of series.\n"
      "# TYPE spanprof_exported_metrics_overflow_total counter\n");
  for (i = 0; i < rules->count; i++) {
    sp_buffer_format(out,
                     "spanprof_exported_metrics_overflow_total{metric=\"%s\"}",
                     rules->rules[i].name);
    text_value(out, &rules->rules[i], metrics->of_rules[i].overflow);
  }
  sp_buffer_text(
      out,
      "# HELP spanprof_exported_metrics_ended 1 if a metric gets no further "
      "values, because matching its regular expression took too long.\n"
      "# TYPE spanprof_exported_metrics_ended gauge\n");
  for (i = 0; i < rules->count; i++)
    sp_buffer_format(out, "spanprof_exported_metrics_ended{metric=\"%s\"} %d\n",
                     rules->rules[i].name, metrics->of_rules[i].gave_up);
  sp_buffer_format(out,
                   "# HELP spanprof_exported_metrics_lost_profiles_total "
                   "Profiles that were not counted for lack of memory.\n"
                   "# TYPE spanprof_exported_metrics_lost_profiles_total "
                   "counter\n"
                   "spanprof_exported_metrics_lost_profiles_total %" PRIu64
                   "\n",
                   metrics->lost);
  pthread_mutex_unlock(&metrics->lock);
}

static void text_answer(void *data, const sp_http_request *request,
                        sp_http_response *response) {
  (void)request;
  sp_http_answer(response, 200, "text/plain; version=0.0.4; charset=utf-8", "");
  sp_exported_metrics_write(data, &response->body);
  if (sp_buffer_status(&response->body))
    sp_http_answer(response, 503, "text/plain", "there is no memory\n");
}

spanprof_status sp_exported_metrics_routes(sp_http_routes *routes,
                                           sp_exported_metrics *metrics) {
  return sp_http_routes_add(routes,
                            &(sp_http_route){.methods = "GET",
                                             .path = "/exported-metrics",
                                             .handler = text_answer,
                                             .data = metrics});
}
