#include "resource.h"

#include <string.h>

#include "session.h"
#include "span/span.h"
#include "util/system/counters.h"
#include "util/system/status.h"
#include "util/text/utf8.h"

#define RESOURCE_TEXT_BYTES                           \
  2048 /* the server's limit for the value of a label \
        */

/* The service of this process's spans. Process-wide, because tracers set it
 * with and without a session. It has a lock of its own, because a stop of the
 * session holds the session's lock `changing` for a long time, and may wait for
 * a VM thread that calls a function of this file. */
static struct {
  pthread_mutex_t lock;
  char *name; /* NULL: not set */
  char *name_space;
  sp_exporter *exporter;
} resource_state = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Return a copy of `text` that is valid as the value of a label: cleaned, and
 * without surrounding spaces. Returns NULL if out of memory. */
static char *resource_copy(const char *text, size_t bytes) {
  char clean[RESOURCE_TEXT_BYTES];
  bool changed;
  size_t used;

  while (bytes > 0 && *text == ' ') {
    text++;
    bytes--;
  }
  used = sp_utf8_clean(text, bytes, clean, sizeof clean, &changed);
  while (used > 0 && clean[used - 1] == ' ')
    used--;
  if (changed)
    sp_count(&sp_counts.labels_cleaned, 1);
  return sp_mem_text(&sp_mem_default, clean, used);
}

/* Pass the service to the exporter. The caller holds the lock. */
static spanprof_status resource_report(void) {
  spanprof_status st;
  bool adopted;

  if (!resource_state.exporter || !resource_state.name)
    return SPANPROF_OK;
  st = sp_exporter_service_set(resource_state.exporter, resource_state.name,
                               resource_state.name_space, &adopted);
  if (!st && adopted)
    st = sp_span_defaults_name(resource_state.name);
  return st;
}

void sp_resource_attach(sp_exporter *exporter) {
  pthread_mutex_lock(&resource_state.lock);
  resource_state.exporter = exporter;
  resource_report();
  pthread_mutex_unlock(&resource_state.lock);
}

/* Store both texts and take ownership of them. The caller holds the lock. */
static void resource_replace(char *name, char *name_space) {
  sp_mem_free(&sp_mem_default, resource_state.name);
  sp_mem_free(&sp_mem_default, resource_state.name_space);
  resource_state.name = name;
  resource_state.name_space = name_space;
}

spanprof_status spanprof_resource_set(const char *service_name,
                                      size_t service_name_bytes,
                                      const char *service_namespace,
                                      size_t service_namespace_bytes) {
  char *name = resource_copy(service_name, service_name_bytes);
  char *name_space = resource_copy(service_namespace, service_namespace_bytes);
  spanprof_status st = SPANPROF_ERR_NOMEM;

  if (name && !*name)
    st = sp_fail(SPANPROF_ERR_ARGUMENT, "service_name is empty");
  if (!name || !name_space || !*name) {
    sp_mem_free(&sp_mem_default, name);
    sp_mem_free(&sp_mem_default, name_space);
    return st;
  }
  sp_session_fork_ready();
  pthread_mutex_lock(&resource_state.lock);
  resource_replace(name, name_space);
  st = resource_report();
  pthread_mutex_unlock(&resource_state.lock);
  return st;
}

void sp_resource_before_fork(void) {
  pthread_mutex_lock(&resource_state.lock);
}

void sp_resource_after_fork(bool child) {
  if (child) {
    pthread_mutex_init(&resource_state.lock, NULL);
    resource_replace(NULL, NULL);
  } else {
    pthread_mutex_unlock(&resource_state.lock);
  }
}
