#include "scrape_job.h"

#include <stdio.h>
#include <string.h>

#include "util/system/status.h"

static const char *const job_none[] = {NULL};

static spanprof_status job_nomem(void) {
  return sp_fail(SPANPROF_ERR_NOMEM, "no memory for the scrape targets");
}

/* Make the path of a profile from the configured path `own` or, if it is NULL,
 * from the default path of the kind. */
static spanprof_status job_kind_path(sp_scrape_job *job, const sp_yaml *given,
                                     const sp_scrape_kind *kind,
                                     const char *own, const char **out) {
  char path[SP_SCRAPE_JOB_PATH_MAX];
  int size;

  if (own && *own != '/')
    return sp_yaml_fail(
        given, "the path of the profile %.100s must begin with a slash",
        kind->name);
  if (own)
    size = snprintf(path, sizeof path, "%s%s", job->before, own);
  else
    size = snprintf(path, sizeof path, "%s%s", job->prefix, kind->path);
  if (*job->query && size > 0 && (size_t)size < sizeof path)
    size += snprintf(path + size, sizeof path - (size_t)size, "%c%s",
                     strchr(path, '?') ? '&' : '?', job->query);
  if (size < 0 || (size_t)size >= sizeof path)
    return sp_yaml_fail(given ? given : job->given,
                        "the path of the profile %.100s is too long",
                        kind->name);
  *out = sp_scrape_plan_text(job->plan, path);
  return *out ? SPANPROF_OK : job_nomem();
}

static spanprof_status job_kind(sp_scrape_job *job, const sp_scrape_kind *usual,
                                const char *name, const sp_yaml *given) {
  static const char *const read[] = {"enabled", "path", "delta", NULL};
  static const sp_yaml_keys keys = {read, job_none};
  const char *own_path = NULL, *path = NULL;
  sp_scrape_kind kind = {.lasts = false};
  spanprof_status st = SPANPROF_OK;
  bool enabled = true;

  if (usual)
    kind = *usual;
  if (given)
    st = sp_yaml_check_keys(given, name, &keys);
  if (!st)
    st = sp_yaml_text(given, "path", &own_path);
  if (!st)
    st = sp_yaml_switch(given, "enabled", &enabled);
  if (!st)
    st = sp_yaml_switch(given, "delta", &kind.lasts);
  if (st || !enabled)
    return st;
  if (!usual) {
    kind.name = kind.metric = sp_scrape_plan_text(job->plan, name);
    if (!kind.name)
      return job_nomem();
    if (!own_path)
      return sp_yaml_fail(given, "the profile %.100s needs a path", name);
  }
  st = job_kind_path(job, given, &kind, own_path, &path);
  /* If the file names the profile, it is not optional: a target without it is
   * an error. */
  return st ? st
            : sp_scrape_plan_add(job->plan, &job->target, &kind, path, !given);
}

static const sp_scrape_kind *job_kind_find(const char *name) {
  const sp_scrape_kind *const *kind = sp_scrape_kinds();

  while (*kind && strcmp((*kind)->name, name) != 0)
    kind++;
  return *kind;
}

static spanprof_status job_probes(sp_scrape_job *job) {
  const sp_yaml_item *item = job->profiles ? job->profiles->first : NULL;
  const sp_scrape_kind *const *kind;
  spanprof_status st = SPANPROF_OK;

  for (kind = sp_scrape_kinds(); !st && *kind; kind++)
    st = job_kind(job, *kind, (*kind)->name,
                  sp_yaml_get(job->profiles, (*kind)->name));
  for (; !st && item; item = item->next)
    if (!job_kind_find(item->name))
      st = job_kind(job, NULL, item->name, item->value);
  sp_scrape_plan_target(job->plan);
  return st;
}

static spanprof_status job_target(sp_scrape_job *job, const sp_yaml *address) {
  const char *path;
  spanprof_status st;
  char url[SP_SCRAPE_JOB_PATH_MAX];

  if (address->kind != SP_YAML_TEXT || !*address->text ||
      strlen(address->text) > SP_SCRAPE_JOB_PATH_MAX - 16 ||
      strpbrk(address->text, "/@?#"))
    return sp_yaml_fail(address,
                        "job %.100s: a target must be like host:6060; write "
                        "its path in metrics_path",
                        job->name);
  snprintf(url, sizeof url, "%s://%s", job->scheme, address->text);
  st = sp_scrape_target_url(job->plan, &job->target, url, &path);
  if (st == SPANPROF_ERR_ARGUMENT)
    return sp_yaml_fail_at(address, st);
  return st ? st : job_probes(job);
}

static spanprof_status job_label(sp_scrape_job *job, const sp_yaml_item *item) {
  const sp_yaml *value = item->value;
  const char *text = value->kind == SP_YAML_TEXT ? value->text : "";
  const char *own_name = sp_scrape_plan_text(job->plan, item->name);
  const char *own_value = sp_scrape_plan_text(job->plan, text);
  spanprof_status st;

  if (!own_name || !own_value)
    return job_nomem();
  st = sp_scrape_target_label(&job->target, job->name, own_name, own_value);
  return st ? sp_yaml_fail_at(value, st) : SPANPROF_OK;
}

static spanprof_status job_static(sp_scrape_job *job, const sp_yaml *entry) {
  static const char *const read[] = {"targets", "labels", NULL};
  static const sp_yaml_keys keys = {read, job_none};
  const sp_yaml *targets = NULL, *labels = NULL;
  const sp_yaml_item *item;
  spanprof_status st =
      sp_yaml_check_keys(entry, "an entry of static_configs", &keys);

  if (!st)
    st = sp_yaml_child(entry, "targets", SP_YAML_LIST, &targets);
  if (!st)
    st = sp_yaml_child(entry, "labels", SP_YAML_MAP, &labels);
  if (!st && !targets)
    st = sp_yaml_fail(entry,
                      "job %.100s: an entry of static_configs needs targets",
                      job->name);
  job->target.label_count = 0;
  for (item = labels ? labels->first : NULL; !st && item; item = item->next)
    st = job_label(job, item);
  for (item = targets ? targets->first : NULL; !st && item; item = item->next)
    st = job_target(job, item->value);
  return st;
}

/* Returns whether the job has service discovery. */
static bool job_discovers(const sp_yaml *given) {
  const sp_yaml_item *item = given->first;
  static const char end[] = "_sd_configs";

  while (item && !strstr(item->name, end))
    item = item->next;
  return item != NULL;
}

spanprof_status sp_scrape_job_targets(sp_scrape_job *job) {
  const sp_yaml *entries = NULL;
  const sp_yaml_item *item;
  spanprof_status st =
      sp_yaml_child(job->given, "static_configs", SP_YAML_LIST, &entries);

  /* If the job has service discovery, another warning was already logged. */
  if (!st && !entries && !job_discovers(job->given))
    st =
        sp_yaml_fail(job->given, "job %.100s has no static_configs", job->name);
  for (item = entries ? entries->first : NULL; !st && item; item = item->next)
    st = job_static(job, item->value);
  return st;
}
