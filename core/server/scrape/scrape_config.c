/* Reads files of jobs with the keys of Prometheus' scrape_configs:
 * https://prometheus.io/docs/prometheus/latest/configuration/configuration */
#include <stdio.h>
#include <string.h>

#include "scrape_access.h"
#include "scrape_job.h"
#include "settings/duration.h"
#include "util/memory/buffer.h"
#include "util/system/status.h"

/* Limits of the scrape interval and of the timeout. */
#define CONFIG_INTERVAL_MIN_NS SP_NS_PER_S
#define CONFIG_INTERVAL_MAX_NS (3600 * SP_NS_PER_S)
#define CONFIG_TIMEOUT_MIN_NS  (100 * SP_NS_PER_MS)

static const char *const config_none[] = {NULL};

/* Keys of Prometheus that do not apply to profiles or are not supported. The
 * log has a warning for each one in a file. */
static const char *const config_file_left_out[] = {
    "rule_files",  "scrape_config_files",
    "alerting",    "remote_write",
    "remote_read", "storage",
    "tracing",     "otlp",
    "runtime",     "object_storage", /* of Parca */
    NULL};
static const char *const config_global_left_out[] = {
    "evaluation_interval",
    "external_labels",
    "query_log_file",
    "runtime",
    "rule_query_offset",
    "scrape_protocols",
    "scrape_failure_log_file",
    "*_limit",
    "metric_name_validation_scheme",
    "metric_name_escaping_scheme",
    "*_native_histograms",
    "*_classic_histograms",
    "convert_classic_histograms_to_nhcb",
    "extra_scrape_metrics",
    "keep_dropped_targets",
    NULL};
static const char *const config_job_left_out[] = {
    "*_sd_configs",
    "relabel_configs",
    "metric_relabel_configs",
    "honor_labels",
    "normalized_addresses", /* of Parca */
    "honor_timestamps",
    "track_timestamps_staleness",
    "follow_redirects",
    "enable_http2",
    "enable_compression",
    "oauth2",
    "sigv4",
    "azuread",
    "google_iam",
    "proxy_url",
    "no_proxy",
    "proxy_from_environment",
    "proxy_connect_header",
    "http_headers",
    "body_size_limit",
    "*_limit",
    "keep_dropped_targets",
    "scrape_protocols",
    "fallback_scrape_protocol",
    "scrape_failure_log_file",
    "*_native_histograms",
    "*_classic_histograms",
    "convert_classic_histograms_to_nhcb",
    "native_histogram_min_bucket_factor",
    "metric_name_validation_scheme",
    "metric_name_escaping_scheme",
    "extra_scrape_metrics",
    NULL};

typedef struct config_times {
  uint64_t interval_ns;
  uint64_t timeout_ns;
} config_times;

static spanprof_status config_nomem(void) {
  return sp_fail(SPANPROF_ERR_NOMEM, "no memory for the scrape targets");
}

static spanprof_status config_time(const sp_yaml *map, const char *name,
                                   uint64_t least_ns, uint64_t *ns) {
  const sp_yaml *value = sp_yaml_get(map, name);

  if (!value)
    return SPANPROF_OK;
  if (value->kind == SP_YAML_TEXT &&
      !sp_duration_parse(value->text, SP_NS_PER_S, ns) && *ns >= least_ns &&
      *ns <= CONFIG_INTERVAL_MAX_NS)
    return SPANPROF_OK;
  return sp_yaml_fail(value,
                      "%s must be a time such as 15s, from %s to an hour", name,
                      least_ns == CONFIG_INTERVAL_MIN_NS ? "1s" : "100ms");
}

static spanprof_status config_read_times(const sp_yaml *map,
                                         config_times *times) {
  spanprof_status st = config_time(map, "scrape_interval",
                                   CONFIG_INTERVAL_MIN_NS, &times->interval_ns);

  return st ? st
            : config_time(map, "scrape_timeout", CONFIG_TIMEOUT_MIN_NS,
                          &times->timeout_ns);
}

static spanprof_status config_param(const sp_yaml_item *param,
                                    sp_buffer *query) {
  const sp_yaml_item *item;

  if (param->value->kind != SP_YAML_LIST)
    return sp_yaml_fail(param->value, "%.100s of params is not a list",
                        param->name);
  for (item = param->value->first; item; item = item->next) {
    const sp_yaml *value = item->value;

    if (value->kind != SP_YAML_TEXT)
      return sp_yaml_fail(value, "a value of %.100s of params is not a text",
                          param->name);
    sp_buffer_text(query, query->size ? "&" : "");
    sp_buffer_form_encode(query, param->name, strlen(param->name));
    sp_buffer_text(query, "=");
    sp_buffer_form_encode(query, value->text, strlen(value->text));
  }
  return SPANPROF_OK;
}

/* Make job->query, the query string of all requests, from the key `params`,
 * which has a list of values for each name. */
static spanprof_status config_params(sp_scrape_job *job) {
  const sp_yaml *params;
  const sp_yaml_item *item;
  spanprof_status st =
      sp_yaml_child(job->given, "params", SP_YAML_MAP, &params);
  sp_buffer query;

  sp_buffer_init(&query, job->plan->arena.mem);
  for (item = params ? params->first : NULL; !st && item; item = item->next)
    st = config_param(item, &query);
  sp_buffer_append(&query, "", 1);
  if (!st)
    st = sp_buffer_status(&query);
  if (!st)
    job->query = sp_scrape_plan_text(job->plan, (const char *)query.data);
  sp_buffer_dispose(&query);
  return st || job->query ? st : config_nomem();
}

/* Read the settings of the paths: path_prefix, metrics_path and
 * pprof_config. */
static spanprof_status config_paths(sp_scrape_job *job) {
  static const char *const read[] = {"path_prefix", "pprof_config", NULL};
  static const sp_yaml_keys keys = {read, config_none};
  const sp_yaml *profiling;
  const char *path = SP_SCRAPE_PREFIX;
  char text[SP_SCRAPE_JOB_PATH_MAX];
  spanprof_status st = sp_yaml_text(job->given, "metrics_path", &path);
  size_t size;

  if (!st)
    st = sp_yaml_child(job->given, "profiling_config", SP_YAML_MAP, &profiling);
  if (!st && profiling)
    st = sp_yaml_check_keys(profiling, "profiling_config", &keys);
  if (!st)
    st = sp_scrape_text(job->plan, profiling, "path_prefix", &job->before);
  if (!st)
    st = sp_yaml_child(profiling, "pprof_config", SP_YAML_MAP, &job->profiles);
  if (st)
    return st;
  if (!job->before)
    job->before = "";
  size = (size_t)snprintf(text, sizeof text, "%s%s", job->before, path);
  if (size >= sizeof text || text[0] != '/')
    return sp_yaml_fail(
        job->given,
        "path_prefix or metrics_path of job %.100s does not begin with a slash",
        job->name);
  while (size > 1 && text[size - 1] == '/')
    text[--size] = '\0';
  job->prefix = sp_scrape_plan_text(job->plan, text);
  return job->prefix ? SPANPROF_OK : config_nomem();
}

static spanprof_status config_scheme(sp_scrape_job *job) {
  job->scheme = "http";
  if (sp_yaml_text(job->given, "scheme", &job->scheme))
    return SPANPROF_ERR_ARGUMENT;
  if (strcmp(job->scheme, "http") != 0 && strcmp(job->scheme, "https") != 0)
    return sp_yaml_fail(sp_yaml_get(job->given, "scheme"),
                        "scheme must be http or https, not %.20s", job->scheme);
  return SPANPROF_OK;
}

static spanprof_status config_job_read(sp_scrape_plan *plan,
                                       const sp_yaml *given,
                                       config_times times) {
  static const char *const read[] = {"job_name",
                                     "scrape_interval",
                                     "scrape_timeout",
                                     "scheme",
                                     "metrics_path",
                                     "static_configs",
                                     "params",
                                     "basic_auth",
                                     "bearer_token",
                                     "authorization",
                                     "bearer_token_file",
                                     "tls_config",
                                     "profiling_config",
                                     NULL};
  static const sp_yaml_keys keys = {read, config_job_left_out};
  sp_scrape_job job = {.plan = plan, .given = given};
  const char *name = NULL;
  char what[128];
  spanprof_status st = sp_yaml_text(given, "job_name", &name);

  if (st)
    return st;
  if (!name || !*name)
    return sp_yaml_fail(given, "a job needs a job_name");
  job.name = job.target.job = sp_scrape_plan_text(plan, name);
  if (!job.name)
    return config_nomem();
  snprintf(what, sizeof what, "job %.100s", name);
  st = sp_yaml_check_keys(given, what, &keys);
  if (!st)
    st = config_read_times(given, &times);
  if (!st)
    st = config_scheme(&job);
  if (!st)
    st = config_paths(&job);
  if (!st)
    st = config_params(&job);
  if (!st)
    st = sp_scrape_access_read(plan, &job.target.access, given);
  job.target.interval_ns = times.interval_ns;
  job.target.timeout_ns = times.timeout_ns;
  return st ? st : sp_scrape_job_targets(&job);
}

static spanprof_status config_read(sp_scrape_plan *plan, const sp_yaml *root) {
  static const char *const read[] = {"global", "scrape_configs", NULL};
  static const sp_yaml_keys keys = {read, config_file_left_out};
  static const char *const read_global[] = {"scrape_interval", "scrape_timeout",
                                            NULL};
  static const sp_yaml_keys global_keys = {read_global, config_global_left_out};
  const sp_yaml *jobs = root->kind == SP_YAML_LIST ? root : NULL;
  const sp_yaml *global = sp_yaml_get(root, "global");
  config_times times = {SP_SCRAPE_INTERVAL_NS, SP_SCRAPE_TIMEOUT_NS};
  spanprof_status st = SPANPROF_OK;
  const sp_yaml_item *job;

  if (sp_yaml_get(root, "scrape-configs"))
    return sp_yaml_fail(sp_yaml_get(root, "scrape-configs"),
                        "scrape-configs is a key of classic Pyroscope: write "
                        "the jobs as scrape_configs in the format of "
                        "Prometheus");
  if (!jobs) {
    st = sp_yaml_check_keys(root, "the file", &keys);
    if (!st)
      st = sp_yaml_child(root, "scrape_configs", SP_YAML_LIST, &jobs);
    if (!st && !jobs)
      st = sp_yaml_fail(root, "the list of jobs, scrape_configs, is missing");
  }
  if (!st && global)
    st = sp_yaml_check_keys(global, "global", &global_keys);
  if (!st)
    st = config_read_times(global, &times);
  for (job = jobs ? jobs->first : NULL; !st && job; job = job->next)
    st = config_job_read(plan, job->value, times);
  return st;
}

spanprof_status sp_scrape_plan_add_file(sp_scrape_plan *plan, const char *path,
                                        sp_log *log) {
  const size_t before = plan->target_count;
  sp_yaml_file file;
  spanprof_status st;

  sp_yaml_file_init(&file, "--scrape-config", path, log, plan->arena.mem);
  st = sp_yaml_file_load(&file);
  if (!st)
    st = config_read(plan, file.root);
  sp_yaml_file_dispose(&file);
  if (!st && log && plan->target_count == before)
    sp_log_line(log, SPANPROF_LOG_WARN,
                "--scrape-config %.200s has no targets to scrape", path);
  return st;
}
