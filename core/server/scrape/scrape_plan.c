#include "scrape_plan.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/system/status.h"
#include "util/text/clean.h"
#include "util/text/number.h"
#include "util/text/utf8.h"

#define PLAN_BYTES_MAX ((size_t)16 << 20)
#define PLAN_URL_MAX   4096

/* Longest duration of a profile that is requested. The handlers in spanprof's
 * gem and package have the same limit. */
#define PLAN_SECONDS_MAX 300

static const sp_scrape_kind plan_cpu = {
    .name = "process_cpu",
    .path = "/profile",
    .lasts = true,
    .types = {"cpu", "samples", "sample", "wall"}};
/* The profile of memory is requested from /heap and not from /allocs: in Go
 * both have the same samples, and Node only has /heap. */
static const sp_scrape_kind plan_memory = {
    .name = "memory",
    .path = "/heap",
    .metric = "memory",
    .types = {"alloc_objects", "alloc_space", "inuse_objects", "inuse_space",
              "objects", "space"}};
/* The metric has the name that uploads of pyroscope-go have, so that a program
 * has the same series whether it uploads or is scraped. */
static const sp_scrape_kind plan_goroutine = {.name = "goroutine",
                                              .path = "/goroutine",
                                              .metric = "goroutine",
                                              .types = {"goroutine"}};
static const sp_scrape_kind plan_mutex = {.name = "mutex",
                                          .path = "/mutex",
                                          .metric = "mutex",
                                          .types = {"contentions", "delay"}};
static const sp_scrape_kind plan_block = {.name = "block",
                                          .path = "/block",
                                          .metric = "block",
                                          .types = {"contentions", "delay"}};

const sp_scrape_kind *const *sp_scrape_kinds(void) {
  static const sp_scrape_kind *const kinds[] = {
      &plan_cpu, &plan_memory, &plan_goroutine, &plan_mutex, &plan_block, NULL};

  return kinds;
}

void sp_scrape_plan_init(sp_scrape_plan *plan, const sp_mem *mem) {
  memset(plan, 0, sizeof *plan);
  sp_arena_init(&plan->arena, mem, PLAN_BYTES_MAX);
}

void sp_scrape_plan_dispose(sp_scrape_plan *plan) {
  sp_mem_free(plan->arena.mem, plan->probes);
  sp_arena_dispose(&plan->arena);
}

const char *sp_scrape_plan_text(sp_scrape_plan *plan, const char *text) {
  const size_t size = strlen(text) + 1;
  char *copy = sp_arena_new(&plan->arena, size, 1);

  return copy ? memcpy(copy, text, size) : NULL;
}

static bool plan_is_name(const char *name) {
  size_t i;

  for (i = 0; name[i]; i++)
    if (!sp_clean_name_has(name[i], i))
      return false;
  return i > 0 && i <= SP_CLEAN_NAME_MAX && strncmp(name, "__", 2) != 0;
}

spanprof_status sp_scrape_target_label(sp_scrape_target *target,
                                       const char *what, const char *name,
                                       const char *value) {
  size_t i;

  if (!plan_is_name(name))
    return sp_fail(SPANPROF_ERR_ARGUMENT,
                   "%s: \"%.100s\" is not a valid label name: use letters, "
                   "digits, \"_\" and \".\", and do not begin with \"__\"",
                   what, name);
  if (!*value || strlen(value) > SP_CLEAN_TEXT_MAX ||
      !sp_utf8_valid(value, strlen(value)))
    return sp_fail(
        SPANPROF_ERR_ARGUMENT,
        "%s: the value of %.100s is empty, longer than %d bytes or not UTF-8",
        what, name, SP_CLEAN_TEXT_MAX);
  for (i = 0; i < target->label_count; i++)
    if (strcmp(target->labels[i].name, name) == 0)
      break;
  if (i == SP_SCRAPE_LABELS_MAX)
    return sp_fail(SPANPROF_ERR_LIMIT, "%s has more than %zu labels", what,
                   SP_SCRAPE_LABELS_MAX);
  target->labels[i] = (sp_scrape_label){name, value};
  target->label_count += i == target->label_count;
  return SPANPROF_OK;
}

static const char *plan_url_part(sp_scrape_plan *plan, CURLU *url,
                                 CURLUPart part, unsigned flags) {
  const char *copy = NULL;
  char *text;

  if (curl_url_get(url, part, &text, flags))
    return NULL;
  copy = sp_scrape_plan_text(plan, text);
  curl_free(text);
  return copy;
}

static spanprof_status plan_url_read(sp_scrape_plan *plan,
                                     sp_scrape_target *target, CURLU *url,
                                     const char **path) {
  const char *scheme = plan_url_part(plan, url, CURLUPART_SCHEME, 0);
  const char *host = plan_url_part(plan, url, CURLUPART_HOST, 0);
  const char *port =
      plan_url_part(plan, url, CURLUPART_PORT, CURLU_DEFAULT_PORT);
  const char *query = plan_url_part(plan, url, CURLUPART_QUERY, 0);
  const char *password =
      plan_url_part(plan, url, CURLUPART_PASSWORD, CURLU_URLDECODE);
  const char *user = plan_url_part(plan, url, CURLUPART_USER, CURLU_URLDECODE);
  char text[PLAN_URL_MAX];

  *path = plan_url_part(plan, url, CURLUPART_PATH, 0);
  if (!scheme || !host || !port || !*path)
    return sp_fail(SPANPROF_ERR_NOMEM, "no memory for the scrape targets");
  if (strcmp(scheme, "http") != 0 && strcmp(scheme, "https") != 0)
    return sp_fail(
        SPANPROF_ERR_ARGUMENT,
        "a scraped URL must begin with http:// or https://, not %.20s://",
        scheme);
  snprintf(text, sizeof text, "%s:%s", host, port);
  target->instance = sp_scrape_plan_text(plan, text);
  snprintf(text, sizeof text, "%s://%s:%s", scheme, host, port);
  target->url = sp_scrape_plan_text(plan, text);
  snprintf(text, sizeof text, "%s%s%s", *path, query ? "?" : "",
           query ? query : "");
  *path = sp_scrape_plan_text(plan, text);
  if (user) {
    target->access.user = user;
    target->access.password = password ? password : "";
  }
  return target->instance && target->url && *path
             ? SPANPROF_OK
             : sp_fail(SPANPROF_ERR_NOMEM, "no memory for the scrape targets");
}

spanprof_status sp_scrape_target_url(sp_scrape_plan *plan,
                                     sp_scrape_target *target, const char *url,
                                     const char **path) {
  CURLU *parsed = curl_url();
  spanprof_status st;

  if (!parsed)
    return sp_fail(SPANPROF_ERR_NOMEM, "no memory for the scrape targets");
  /* The URL may contain a password, so the messages do not contain the URL. */
  if (strlen(url) >= PLAN_URL_MAX / 2 ||
      curl_url_set(parsed, CURLUPART_URL, url, CURLU_NON_SUPPORT_SCHEME))
    st = sp_fail(SPANPROF_ERR_ARGUMENT,
                 "a scraped URL must look like http://host:6060; the URL "
                 "of target %zu does not",
                 plan->target_count + 1);
  else
    st = plan_url_read(plan, target, parsed, path);
  curl_url_cleanup(parsed);
  return st;
}

void sp_scrape_plan_target(sp_scrape_plan *plan) {
  plan->target_count++;
}

/* Copy the target's labels, and add instance, job and service_name if they are
 * missing. */
static const sp_scrape_label *plan_labels(sp_scrape_plan *plan,
                                          const sp_scrape_target *target,
                                          size_t *count) {
  const sp_scrape_label own[] = {{"instance", target->instance},
                                 {"job", target->job},
                                 {"service_name", target->job}};
  sp_scrape_label *labels = sp_arena_new(
      &plan->arena, target->label_count + SP_COUNT_OF(own), sizeof *labels);
  size_t i, k;

  if (!labels)
    return NULL;
  memcpy(labels, target->labels, target->label_count * sizeof *labels);
  *count = target->label_count;
  for (i = 0; i < SP_COUNT_OF(own); i++) {
    for (k = 0; k < target->label_count; k++)
      if (strcmp(labels[k].name, own[i].name) == 0)
        break;
    if (k == target->label_count)
      labels[(*count)++] = own[i];
  }
  return labels;
}

/* Returns the duration to request, in seconds: the one in the query of `path`
 * or, if it has none, one second less than the interval, so that a profile has
 * ended when the next one begins. */
static uint32_t plan_seconds(const sp_scrape_target *target, const char *path,
                             bool *given) {
  const char *query = strchr(path, '?');
  const char *found = query ? strstr(query, "seconds=") : NULL;
  const uint64_t interval_s = target->interval_ns / SP_NS_PER_S;
  uint64_t seconds = interval_s > 2 ? interval_s - 1 : 1;

  *given = found && (found[-1] == '?' || found[-1] == '&');
  if (*given) {
    found += strlen("seconds=");
    sp_number_read(&found, NULL, &seconds);
  }
  return (uint32_t)sp_min_u64(seconds, PLAN_SECONDS_MAX);
}

static const char *plan_probe_url(sp_scrape_plan *plan,
                                  const sp_scrape_target *target,
                                  const sp_scrape_kind *kind, const char *path,
                                  uint32_t *seconds) {
  char text[2 * PLAN_URL_MAX];
  bool given = true;

  *seconds = kind->lasts ? plan_seconds(target, path, &given) : 0;
  if (given)
    snprintf(text, sizeof text, "%s%s", target->url, path);
  else
    snprintf(text, sizeof text, "%s%s%sseconds=%u", target->url, path,
             strchr(path, '?') ? "&" : "?", *seconds);
  return sp_scrape_plan_text(plan, text);
}

spanprof_status sp_scrape_plan_add(sp_scrape_plan *plan,
                                   const sp_scrape_target *target,
                                   const sp_scrape_kind *kind, const char *path,
                                   bool optional) {
  sp_scrape_probe probe = {.kind = *kind,
                           .job = target->job,
                           .instance = target->instance,
                           .access = target->access,
                           .interval_ns = target->interval_ns,
                           .target = plan->target_count,
                           .optional = optional};
  uint32_t seconds;

  if (plan->count == SP_SCRAPE_PROBES_MAX)
    return sp_fail(SPANPROF_ERR_LIMIT,
                   "there are more than %zu profiles to scrape: split the "
                   "targets among several servers",
                   SP_SCRAPE_PROBES_MAX);
  probe.url = plan_probe_url(plan, target, kind, path, &seconds);
  probe.timeout_ns = target->timeout_ns + seconds * SP_NS_PER_S;
  probe.labels = plan_labels(plan, target, &probe.label_count);
  if (!probe.url || !probe.labels ||
      sp_mem_reserve(plan->arena.mem, (void **)&plan->probes, &plan->capacity,
                     plan->count + 1, sizeof probe))
    return sp_fail(SPANPROF_ERR_NOMEM, "no memory for the scrape targets");
  plan->probes[plan->count++] = probe;
  return SPANPROF_OK;
}

/* Returns the kind of profile for the ending of a path, or NULL. The query is
 * ignored. */
static const sp_scrape_kind *plan_kind_of(const char *path) {
  const size_t size = strcspn(path, "?");
  const sp_scrape_kind *const *kind;

  for (kind = sp_scrape_kinds(); *kind; kind++) {
    const size_t end = strlen((*kind)->path);

    if (size >= end && memcmp(path + size - end, (*kind)->path, end) == 0)
      return *kind;
  }
  return size >= 7 && memcmp(path + size - 7, "/allocs", 7) == 0 ? &plan_memory
                                                                 : NULL;
}

static spanprof_status plan_add_all(sp_scrape_plan *plan,
                                    const sp_scrape_target *target,
                                    const char *prefix) {
  const sp_scrape_kind *const *kind;
  spanprof_status st = SPANPROF_OK;
  char path[PLAN_URL_MAX];
  size_t size = strcspn(prefix, "?");

  while (size > 0 && prefix[size - 1] == '/')
    size--;
  for (kind = sp_scrape_kinds(); !st && *kind; kind++) {
    snprintf(path, sizeof path, "%.*s%s%s",
             (int)(size ? size : strlen(SP_SCRAPE_PREFIX)),
             size ? prefix : SP_SCRAPE_PREFIX, (*kind)->path,
             prefix + strcspn(prefix, "?"));
    st = sp_scrape_plan_add(plan, target, *kind, path, true);
  }
  return st;
}

/* Add the labels in `text` to a target: `name=value` pairs, separated by
 * commas. Modifies `text`. */
static spanprof_status plan_url_labels(sp_scrape_target *target, char *text) {
  spanprof_status st = SPANPROF_OK;
  char *next;

  for (; !st && text; text = next) {
    char *equals = strchr(text, '=');

    next = strchr(text, ',');
    if (next)
      *next++ = '\0';
    equals = strchr(text, '=');
    if (!equals)
      return sp_fail(SPANPROF_ERR_ARGUMENT,
                     "write labels of --scrape as ,name=value after the URL, "
                     "not \"%.100s\" (a comma of the URL itself is %%2C)",
                     text);
    *equals = '\0';
    st = sp_scrape_target_label(target, "--scrape", text, equals + 1);
  }
  return st;
}

spanprof_status sp_scrape_plan_add_url(sp_scrape_plan *plan, const char *text) {
  sp_scrape_target target = {.interval_ns = SP_SCRAPE_INTERVAL_NS,
                             .timeout_ns = SP_SCRAPE_TIMEOUT_NS};
  char *copy = (char *)(uintptr_t)sp_scrape_plan_text(plan, text);
  const sp_scrape_kind *kind;
  spanprof_status st;
  const char *path;
  char *labels;

  if (!copy)
    return sp_fail(SPANPROF_ERR_NOMEM, "no memory for the scrape targets");
  labels = strchr(copy, ',');
  if (labels)
    *labels++ = '\0';
  st = sp_scrape_target_url(plan, &target, copy, &path);
  target.job = target.instance;
  if (!st)
    st = plan_url_labels(&target, labels);
  if (st)
    return st;
  kind = plan_kind_of(path);
  st = kind ? sp_scrape_plan_add(plan, &target, kind, path, false)
            : plan_add_all(plan, &target, path);
  sp_scrape_plan_target(plan);
  return st;
}
