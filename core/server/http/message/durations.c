#include "durations.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#define DURATION_NAME "pyroscope_request_duration_seconds"

/* The upper bounds of the buckets, with the text that Prometheus prints for
 * them. */
static const struct {
  const char *text;
  uint64_t ns;
} duration_buckets[SP_HTTP_DURATION_BUCKETS] = {
    {"0.005", 5 * SP_NS_PER_MS},  {"0.01", 10 * SP_NS_PER_MS},
    {"0.025", 25 * SP_NS_PER_MS}, {"0.05", 50 * SP_NS_PER_MS},
    {"0.1", 100 * SP_NS_PER_MS},  {"0.25", 250 * SP_NS_PER_MS},
    {"0.5", 500 * SP_NS_PER_MS},  {"1", 1000 * SP_NS_PER_MS},
    {"2.5", 2500 * SP_NS_PER_MS}, {"5", 5000 * SP_NS_PER_MS},
    {"10", 10000 * SP_NS_PER_MS}, {"25", 25000 * SP_NS_PER_MS},
    {"50", 50000 * SP_NS_PER_MS}, {"100", 100000 * SP_NS_PER_MS},
};

void sp_http_durations_init(sp_http_durations *durations, const sp_mem *mem) {
  memset(durations, 0, sizeof *durations);
  durations->mem = mem;
  pthread_mutex_init(&durations->lock, NULL);
}

void sp_http_durations_dispose(sp_http_durations *durations) {
  sp_mem_free(durations->mem, durations->durations);
  sp_index_dispose(&durations->index, durations->mem);
  pthread_mutex_destroy(&durations->lock);
}

/* Returns the method, or "other" for an unknown method. This limits the number
 * of histograms. */
static const char *duration_method(const char *method) {
  static const char *const known[] = {"GET",   "HEAD",   "POST",   "PUT",
                                      "PATCH", "DELETE", "OPTIONS"};
  size_t i;

  for (i = 0; i < SP_COUNT_OF(known); i++)
    if (strcmp(known[i], method) == 0)
      return known[i];
  return "other";
}

static sp_http_duration *duration_find(sp_http_durations *durations,
                                       const sp_http_route *route,
                                       const char *method, int status) {
  const uint64_t hash =
      sp_hash_mix(sp_hash_mix(sp_hash_mix(SP_HASH_SEED, (uintptr_t)route),
                              (uintptr_t)method),
                  (uint64_t)status);
  void *array = durations->durations;
  sp_http_duration *at;
  uint32_t walk, i;

  for (i = sp_index_first(&durations->index, hash, &walk); i != SP_INDEX_NONE;
       i = sp_index_next(&durations->index, hash, &walk)) {
    at = &durations->durations[i];
    if (at->route == route && at->method == method && at->status == status)
      return at;
  }
  if (durations->count >= SP_HTTP_DURATIONS_MAX && route)
    return duration_find(durations, NULL, "other", 0);
  if (sp_mem_reserve(durations->mem, &array, &durations->capacity,
                     durations->count + 1, sizeof *durations->durations))
    return NULL;
  durations->durations = array;
  if (sp_index_reserve(&durations->index, durations->mem))
    return NULL;
  sp_index_add(&durations->index, hash, (uint32_t)durations->count);
  at = &durations->durations[durations->count++];
  *at = (sp_http_duration){.route = route, .method = method, .status = status};
  return at;
}

void sp_http_durations_add(sp_http_durations *durations,
                           const sp_http_route *route, const char *method,
                           int status, uint64_t ns) {
  sp_http_duration *duration;
  size_t i;

  pthread_mutex_lock(&durations->lock);
  duration = duration_find(durations, route, duration_method(method), status);
  if (duration) {
    for (i = 0; i < SP_HTTP_DURATION_BUCKETS && ns > duration_buckets[i].ns;
         i++)
      ;
    if (i < SP_HTTP_DURATION_BUCKETS)
      duration->counts[i]++;
    duration->count++;
    duration->sum_ns += ns;
  }
  pthread_mutex_unlock(&durations->lock);
}

/* Write a path in the form of Pyroscope's label:
 * "/querier.v1.QuerierService/Series" becomes
 * "querier_v1_querierservice_series". */
static void duration_route(sp_buffer *out, const char *path) {
  const size_t before = out->size;
  bool gap = false;

  for (; *path; path++) {
    if (*path == '*') { /* the variable part of the path, which Pyroscope writes
                         * as "any" */
      sp_buffer_text(out, out->size > before ? "_any" : "any");
      break;
    }
    if (!isalnum((unsigned char)*path)) {
      gap = true;
      continue;
    }
    if (gap && out->size > before)
      sp_buffer_append(out, "_", 1);
    gap = false;
    sp_buffer_append(out, &(char){(char)tolower((unsigned char)*path)}, 1);
  }
  if (out->size == before)
    sp_buffer_text(out, "root");
}

static void duration_write(const sp_http_duration *duration, sp_buffer *labels,
                           sp_buffer *out) {
  uint64_t below = 0;
  size_t i;

  sp_buffer_clear(labels);
  sp_buffer_format(labels, "method=\"%s\",route=\"", duration->method);
  if (duration->route && duration->route->name)
    sp_buffer_text(labels, duration->route->name);
  else if (duration->route)
    duration_route(labels, duration->route->path);
  else
    sp_buffer_text(labels, "other");
  sp_buffer_format(labels, "\",status_code=\"%d\",ws=\"false\"",
                   duration->status);
  if (sp_buffer_status(labels)) {
    out->failed = true;
    return;
  }
  for (i = 0; i < SP_HTTP_DURATION_BUCKETS; i++) {
    below += duration->counts[i];
    sp_buffer_format(out, DURATION_NAME "_bucket{%s,le=\"%s\"} %" PRIu64 "\n",
                     labels->data, duration_buckets[i].text, below);
  }
  sp_buffer_format(
      out,
      DURATION_NAME "_bucket{%s,le=\"+Inf\"} %" PRIu64 "\n" DURATION_NAME
                    "_sum{%s} %" PRIu64 ".%09" PRIu64 "\n" DURATION_NAME
                    "_count{%s} %" PRIu64 "\n",
      labels->data, duration->count, labels->data,
      duration->sum_ns / SP_NS_PER_S, duration->sum_ns % SP_NS_PER_S,
      labels->data, duration->count);
}

void sp_http_durations_write(sp_http_durations *durations, sp_buffer *out) {
  sp_buffer labels;
  size_t i;

  sp_buffer_init(&labels, durations->mem);
  sp_buffer_text(out, "# HELP " DURATION_NAME
                      " Time (in seconds) spent serving HTTP requests.\n"
                      "# TYPE " DURATION_NAME " histogram\n");
  pthread_mutex_lock(&durations->lock);
  for (i = 0; i < durations->count; i++)
    duration_write(&durations->durations[i], &labels, out);
  pthread_mutex_unlock(&durations->lock);
  sp_buffer_dispose(&labels);
}
