#include "exporter_service.h"

#include <string.h>

#define SERVICE_HOLD_DIVISOR 2

/* Process-wide: the sentence about two names is said once in a process, also
 * where it starts one session after the other. */
static _Atomic bool service_other_told;

/* Make next_series of all that is known. Lock held. */
static spanprof_status service_series(sp_exporter *exporter) {
  sp_series series;
  spanprof_status st = sp_series_init(&series, exporter->mem,
                                      exporter->settings, &exporter->facts);

  if (st)
    return st;
  sp_series_dispose(&exporter->next_series);
  exporter->next_series = series;
  return SPANPROF_OK;
}

/* Put a copy of `text`, NULL for none, in place of what stands there. */
static spanprof_status service_copy(sp_exporter *exporter, char **place,
                                    const char *text) {
  char *copy = NULL;

  if (text && *text) {
    copy = sp_mem_text(exporter->mem, text, strlen(text));
    if (!copy)
      return SPANPROF_ERR_NOMEM;
  }
  sp_mem_free(exporter->mem, *place);
  *place = copy;
  return SPANPROF_OK;
}

spanprof_status sp_exporter_runtime_set(sp_exporter *exporter, const char *name,
                                        const char *version) {
  spanprof_status st;

  pthread_mutex_lock(&exporter->lock);
  st = service_copy(exporter, &exporter->facts.runtime_name, name);
  if (!st)
    st = service_copy(exporter, &exporter->facts.runtime_version, version);
  if (!st)
    st = service_series(exporter);
  pthread_mutex_unlock(&exporter->lock);
  return st;
}

/* The name that profiles have now. Lock held. */
static const char *service_name(const sp_exporter *exporter) {
  return exporter->facts.service_name ? exporter->facts.service_name
                                      : exporter->settings->application_name;
}

spanprof_status sp_exporter_service_set(sp_exporter *exporter, const char *name,
                                        const char *name_space, bool *adopted) {
  spanprof_status st = SPANPROF_OK;

  *adopted = false;
  pthread_mutex_lock(&exporter->lock);
  if (exporter->name_open) {
    st = service_copy(exporter, &exporter->facts.service_name, name);
    *adopted = !st;
    if (*adopted) {
      exporter->name_open = false;
      exporter->renamed = true;
    }
  }
  if (!st && strcmp(service_name(exporter), name) == 0) {
    st = service_copy(exporter, &exporter->facts.service_namespace, name_space);
    if (!st)
      st = service_series(exporter);
  } else if (!st && !atomic_exchange(&service_other_told, true)) {
    st = service_copy(exporter, &exporter->other_name, name);
  }
  pthread_cond_signal(&exporter->work);
  pthread_mutex_unlock(&exporter->lock);
  return st;
}

void sp_exporter_hold(sp_exporter *exporter) {
  if (exporter->name_open && !exporter->hold_until_ns)
    exporter->hold_until_ns =
        sp_clock_monotonic_ns(exporter->clock) + SP_EXPORTER_HOLD_NS;
}

void sp_exporter_hurry(sp_exporter *exporter) {
  pthread_mutex_lock(&exporter->lock);
  exporter->hold_until_ns = sp_clock_monotonic_ns(exporter->clock);
  pthread_cond_signal(&exporter->work);
  pthread_mutex_unlock(&exporter->lock);
}

bool sp_exporter_holds(const sp_exporter *exporter) {
  return exporter->name_open && !exporter->flushing && !exporter->stopping &&
         exporter->queue.bytes <=
             exporter->settings->queue_bytes / SERVICE_HOLD_DIVISOR &&
         sp_clock_monotonic_ns(exporter->clock) < exporter->hold_until_ns;
}

void sp_exporter_service_adopt(sp_exporter *exporter) {
  if (exporter->next_series.text) {
    sp_series_dispose(&exporter->delivery.series);
    exporter->delivery.series = exporter->next_series;
    exporter->next_series.text = NULL;
  }
  if (exporter->renamed && exporter->delivery.files)
    sp_profile_files_name(exporter->delivery.files, service_name(exporter));
}

/* Without memory for it nothing is said. */
bool sp_exporter_service_news(sp_exporter *exporter, sp_service_news *out) {
  memset(out, 0, sizeof *out);
  if (!exporter->renamed && !exporter->other_name)
    return false;
  if (exporter->renamed)
    service_copy(exporter, &out->name, service_name(exporter));
  if (exporter->other_name)
    service_copy(exporter, &out->mine, service_name(exporter));
  out->other = exporter->other_name;
  exporter->other_name = NULL;
  exporter->renamed = false;
  return true;
}

void sp_exporter_service_say(const sp_exporter *exporter,
                             sp_service_news *news) {
  if (news->name)
    sp_log_line(exporter->log, SPANPROF_LOG_INFO,
                "profiles are of the service \"%s\", as its spans are",
                news->name);
  if (news->mine && news->other)
    sp_log_line(
        exporter->log, SPANPROF_LOG_WARN,
        "spans are of the service \"%s\" and profiles of \"%s\", so that "
        "no trace leads to its profile: give both one name, by "
        "OTEL_SERVICE_NAME alone, say",
        news->other, news->mine);
  sp_mem_free(exporter->mem, news->name);
  sp_mem_free(exporter->mem, news->mine);
  sp_mem_free(exporter->mem, news->other);
}

void sp_exporter_service_after_fork_child(sp_exporter *exporter) {
  exporter->name_open = exporter->settings->name_open;
  exporter->hold_until_ns = 0;
  service_copy(exporter, &exporter->other_name, NULL);
}

void sp_exporter_service_dispose(sp_exporter *exporter) {
  sp_series_dispose(&exporter->next_series);
  sp_mem_free(exporter->mem, exporter->facts.service_name);
  sp_mem_free(exporter->mem, exporter->facts.service_namespace);
  sp_mem_free(exporter->mem, exporter->facts.runtime_name);
  sp_mem_free(exporter->mem, exporter->facts.runtime_version);
  sp_mem_free(exporter->mem, exporter->other_name);
}
