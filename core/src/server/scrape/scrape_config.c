#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "../../settings/duration.h"
#include "../../util/status.h"
#include "scrape_access.h"

#define CONFIG_PATH_MAX 2048

/* How often a target may be asked, and how long it may take. */
#define CONFIG_INTERVAL_MIN_NS SP_NS_PER_S
#define CONFIG_INTERVAL_MAX_NS (3600 * SP_NS_PER_S)
#define CONFIG_TIMEOUT_MIN_NS  (100 * SP_NS_PER_MS)

typedef struct config_times {
  uint64_t interval_ns;
  uint64_t timeout_ns;
} config_times;

typedef struct config_job {
  sp_scrape_plan *plan;
  const json_t *given;
  const char *name;
  const char *scheme;
  const char *prefix;
  const json_t *profiles; /* pprof_config, or NULL */
  sp_scrape_target target;
} config_job;

static spanprof_status config_time(const char *job, const json_t *object,
                                   const char *name, uint64_t least_ns,
                                   uint64_t *ns) {
  const json_t *value = json_object_get(object, name);

  if (!value)
    return SPANPROF_OK;
  if (json_is_string(value) &&
      !sp_duration_parse(json_string_value(value), SP_NS_PER_S, ns) &&
      *ns >= least_ns && *ns <= CONFIG_INTERVAL_MAX_NS)
    return SPANPROF_OK;
  return sp_fail(SPANPROF_ERR_ARGUMENT,
                 "job %.100s: %s is a text as \"15s\", from %s to an hour", job,
                 name, least_ns == CONFIG_INTERVAL_MIN_NS ? "1s" : "100ms");
}

static spanprof_status config_read_times(const char *job, const json_t *object,
                                         config_times *times) {
  spanprof_status st = config_time(job, object, "scrape_interval",
                                   CONFIG_INTERVAL_MIN_NS, &times->interval_ns);

  return st ? st
            : config_time(job, object, "scrape_timeout", CONFIG_TIMEOUT_MIN_NS,
                          &times->timeout_ns);
}

static bool config_switch(const json_t *object, const char *name, bool usual) {
  const json_t *value = json_object_get(object, name);

  return value ? json_is_true(value) : usual;
}

static spanprof_status config_kind(config_job *job, const sp_scrape_kind *usual,
                                   const char *name, const json_t *given) {
  static const char *const known[] = {"enabled", "path", "delta", NULL};
  const char *own_path = NULL, *copy;
  spanprof_status st = SPANPROF_OK;
  sp_scrape_kind kind = {.lasts = false};
  char path[CONFIG_PATH_MAX];

  if (usual)
    kind = *usual;
  if (given)
    st = sp_scrape_known(job->name, name, given, known);
  if (!st)
    st = sp_scrape_text(job->plan, job->name, given, "path", &own_path);
  if (st || !config_switch(given, "enabled", true))
    return st;
  kind.lasts = config_switch(given, "delta", kind.lasts);
  if (!usual) {
    kind.name = kind.metric = sp_scrape_plan_text(job->plan, name);
    if (!own_path)
      return sp_fail(SPANPROF_ERR_ARGUMENT,
                     "job %.100s: the profile %.100s needs a path", job->name,
                     name);
  }
  if (own_path && *own_path != '/')
    return sp_fail(SPANPROF_ERR_ARGUMENT,
                   "job %.100s: the path of %.100s begins with a slash",
                   job->name, name);
  if (own_path)
    snprintf(path, sizeof path, "%s", own_path);
  else
    snprintf(path, sizeof path, "%s%s", job->prefix, kind.path);
  copy = sp_scrape_plan_text(job->plan, path);
  if (!copy || (!usual && !kind.name))
    return sp_fail(SPANPROF_ERR_NOMEM, "no memory for what is to be scraped");
  /* Who names a profile wants to hear where it is not. */
  return sp_scrape_plan_add(job->plan, &job->target, &kind, copy, !given);
}

static const sp_scrape_kind *config_kind_find(const char *name) {
  const sp_scrape_kind *const *kind = sp_scrape_kinds();

  while (*kind && strcmp((*kind)->name, name) != 0)
    kind++;
  return *kind;
}

static spanprof_status config_probes(config_job *job) {
  json_t *profiles = (json_t *)(uintptr_t)job->profiles;
  const sp_scrape_kind *const *kind;
  spanprof_status st = SPANPROF_OK;
  const char *name;
  json_t *given;

  for (kind = sp_scrape_kinds(); !st && *kind; kind++)
    st = config_kind(job, *kind, (*kind)->name,
                     json_object_get(job->profiles, (*kind)->name));
  json_object_foreach(profiles, name, given) {
    if (!st && !config_kind_find(name))
      st = config_kind(job, NULL, name, given);
  }
  sp_scrape_plan_target(job->plan);
  return st;
}

static spanprof_status config_target(config_job *job, const json_t *address) {
  const char *path;
  spanprof_status st;
  char url[CONFIG_PATH_MAX];

  if (!json_is_string(address) ||
      strlen(json_string_value(address)) > CONFIG_PATH_MAX - 16 ||
      strpbrk(json_string_value(address), "/@?#"))
    return sp_fail(SPANPROF_ERR_ARGUMENT,
                   "job %.100s: a target is a text as \"host:6060\"",
                   job->name);
  snprintf(url, sizeof url, "%s://%s", job->scheme, json_string_value(address));
  st = sp_scrape_target_url(job->plan, &job->target, url, &path);
  return st ? st : config_probes(job);
}

static spanprof_status config_label(config_job *job, const char *name,
                                    const json_t *value) {
  const char *text = json_is_string(value) ? json_string_value(value) : "";
  const char *own_name = sp_scrape_plan_text(job->plan, name);
  const char *own_value = sp_scrape_plan_text(job->plan, text);

  if (!own_name || !own_value)
    return sp_fail(SPANPROF_ERR_NOMEM, "no memory for what is to be scraped");
  return sp_scrape_target_label(&job->target, job->name, own_name, own_value);
}

static spanprof_status config_static(config_job *job, const json_t *entry) {
  static const char *const known[] = {"targets", "labels", NULL};
  json_t *targets = json_object_get(entry, "targets");
  json_t *labels = json_object_get(entry, "labels");
  spanprof_status st =
      sp_scrape_known(job->name, "static_configs", entry, known);
  const char *name;
  json_t *value;
  size_t i;

  if (!st && (!json_is_array(targets) || (labels && !json_is_object(labels))))
    st = sp_fail(SPANPROF_ERR_ARGUMENT,
                 "job %.100s: static_configs have an array of targets, and "
                 "labels by name",
                 job->name);
  job->target.label_count = 0;
  json_object_foreach(labels, name, value) {
    if (!st)
      st = config_label(job, name, value);
  }
  json_array_foreach(targets, i, value) {
    if (!st)
      st = config_target(job, value);
  }
  return st;
}

/* Where the profiles are: metrics_path, path_prefix before it. */
static spanprof_status config_paths(config_job *job) {
  static const char *const known[] = {"path_prefix", "pprof_config", NULL};
  const json_t *profiling = json_object_get(job->given, "profiling_config");
  const char *path, *before = NULL;
  char text[CONFIG_PATH_MAX];
  spanprof_status st =
      sp_scrape_text(job->plan, job->name, job->given, "metrics_path", &path);
  size_t size;

  if (!st && profiling)
    st = sp_scrape_known(job->name, "profiling_config", profiling, known);
  if (!st)
    st =
        sp_scrape_text(job->plan, job->name, profiling, "path_prefix", &before);
  if (st)
    return st;
  size = (size_t)snprintf(text, sizeof text, "%s%s", before ? before : "",
                          path ? path : SP_SCRAPE_PREFIX);
  if (size >= sizeof text || text[0] != '/')
    return sp_fail(SPANPROF_ERR_ARGUMENT,
                   "job %.100s: metrics_path and path_prefix begin with a "
                   "slash",
                   job->name);
  while (size > 1 && text[size - 1] == '/')
    text[--size] = '\0';
  job->prefix = sp_scrape_plan_text(job->plan, text);
  job->profiles = json_object_get(profiling, "pprof_config");
  if (job->profiles && !json_is_object(job->profiles))
    return sp_fail(SPANPROF_ERR_ARGUMENT,
                   "job %.100s: pprof_config is no object", job->name);
  return job->prefix ? SPANPROF_OK
                     : sp_fail(SPANPROF_ERR_NOMEM,
                               "no memory for what is to be scraped");
}

static spanprof_status
config_job_read(sp_scrape_plan *plan, const json_t *given, config_times times) {
  static const char *const known[] = {"job_name",
                                      "scrape_interval",
                                      "scrape_timeout",
                                      "scheme",
                                      "metrics_path",
                                      "static_configs",
                                      "basic_auth",
                                      "authorization",
                                      "profiling_config",
                                      "tls_config",
                                      NULL};
  json_t *entries = json_object_get(given, "static_configs");
  const char *name = json_string_value(json_object_get(given, "job_name"));
  config_job job = {.plan = plan, .given = given};
  spanprof_status st;
  json_t *entry;
  size_t i;

  if (!name || !*name)
    return sp_fail(SPANPROF_ERR_ARGUMENT, "a job has a job_name");
  job.name = job.target.job = sp_scrape_plan_text(plan, name);
  if (!job.name)
    return sp_fail(SPANPROF_ERR_NOMEM, "no memory for what is to be scraped");
  st = sp_scrape_known(job.name, "the job", given, known);
  if (!st)
    st = config_read_times(job.name, given, &times);
  if (!st)
    st = sp_scrape_text(plan, job.name, given, "scheme", &job.scheme);
  if (!job.scheme)
    job.scheme = "http";
  if (!st)
    st = config_paths(&job);
  if (!st)
    st = sp_scrape_access_read(plan, &job.target.access, job.name, given);
  if (!st && !json_is_array(entries))
    st = sp_fail(SPANPROF_ERR_ARGUMENT,
                 "job %.100s: it has no array static_configs", job.name);
  job.target.interval_ns = times.interval_ns;
  job.target.timeout_ns = times.timeout_ns;
  json_array_foreach(entries, i, entry) {
    if (!st)
      st = config_static(&job, entry);
  }
  return st;
}

static spanprof_status config_read(sp_scrape_plan *plan, json_t *root) {
  static const char *const known[] = {"global", "scrape_configs", NULL};
  static const char *const known_global[] = {"scrape_interval",
                                             "scrape_timeout", NULL};
  json_t *jobs =
      json_is_array(root) ? root : json_object_get(root, "scrape_configs");
  const json_t *global = json_object_get(root, "global");
  config_times times = {SP_SCRAPE_INTERVAL_NS, SP_SCRAPE_TIMEOUT_NS};
  spanprof_status st = SPANPROF_OK;
  json_t *job;
  size_t i;

  if (json_is_object(root))
    st = sp_scrape_known("of the file", "the file", root, known);
  if (!st && global)
    st = sp_scrape_known("of the file", "global", global, known_global);
  if (!st && global)
    st = config_read_times("of the file", global, &times);
  if (!st && !json_is_array(jobs))
    st = sp_fail(SPANPROF_ERR_ARGUMENT,
                 "it has no array scrape_configs of jobs");
  json_array_foreach(jobs, i, job) {
    if (!st)
      st = config_job_read(plan, job, times);
  }
  return st;
}

spanprof_status sp_scrape_plan_add_file(sp_scrape_plan *plan,
                                        const char *path) {
  json_error_t error;
  json_t *root = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
  spanprof_status st;
  char sentence[512];

  if (!root && json_error_code(&error) == json_error_cannot_open_file)
    return sp_fail(SPANPROF_ERR_IO, "--scrape-config: %s", error.text);
  if (!root)
    return sp_fail(SPANPROF_ERR_ARGUMENT,
                   "--scrape-config %.200s, line %d: it is no JSON: %s", path,
                   error.line, error.text);
  st = config_read(plan, root);
  json_decref(root);
  if (!st)
    return SPANPROF_OK;
  snprintf(sentence, sizeof sentence, "%s", spanprof_last_error());
  return sp_fail(st, "--scrape-config %.200s: %s", path, sentence);
}
