#include "service_name.h"

#include <string.h>

#define SERVICE_WAIT_DIVISOR 2

/* Process-wide, because the warning about two names is logged once per process,
 * even if the process starts several sessions. */
static _Atomic bool service_other_logged;

void sp_service_name_init(sp_service_name *service, const sp_mem *mem,
                          const sp_settings *settings, const sp_clock *clock) {
  *service = (sp_service_name){.mem = mem,
                               .settings = settings,
                               .clock = clock,
                               .open = settings->name_open,
                               .next_series.mem = mem};
}

/* Compute next_series from the settings and service->facts. */
static spanprof_status service_series(sp_service_name *service) {
  sp_series series;
  spanprof_status st =
      sp_series_init(&series, service->mem, service->settings, &service->facts);

  if (st)
    return st;
  sp_series_dispose(&service->next_series);
  service->next_series = series;
  return SPANPROF_OK;
}

/* Replace *text by a copy of `value`, or by NULL if `value` is NULL or "". */
static spanprof_status service_copy(const sp_mem *mem, char **text,
                                    const char *value) {
  char *copy = NULL;

  if (value && *value) {
    copy = sp_mem_text(mem, value, strlen(value));
    if (!copy)
      return SPANPROF_ERR_NOMEM;
  }
  sp_mem_free(mem, *text);
  *text = copy;
  return SPANPROF_OK;
}

spanprof_status sp_service_name_set_runtime(sp_service_name *service,
                                            const char *name,
                                            const char *version) {
  spanprof_status st =
      service_copy(service->mem, &service->facts.runtime_name, name);

  if (!st)
    st = service_copy(service->mem, &service->facts.runtime_version, version);
  return st ? st : service_series(service);
}

const char *sp_service_name_text(const sp_service_name *service) {
  return service->facts.service_name ? service->facts.service_name
                                     : service->settings->application_name;
}

spanprof_status sp_service_name_set(sp_service_name *service, const char *name,
                                    const char *name_space, bool *adopted) {
  spanprof_status st = SPANPROF_OK;

  *adopted = false;
  if (service->open) {
    st = service_copy(service->mem, &service->facts.service_name, name);
    if (st)
      return st;
    *adopted = true;
    service->open = false;
    service->renamed = true;
  }
  if (strcmp(sp_service_name_text(service), name) == 0) {
    st = service_copy(service->mem, &service->facts.service_namespace,
                      name_space);
    if (!st)
      st = service_series(service);
  } else if (!atomic_exchange(&service_other_logged, true)) {
    st = service_copy(service->mem, &service->other_name, name);
  }
  return st;
}

void sp_service_name_begin_wait(sp_service_name *service) {
  if (service->open && !service->wait_until_ns)
    service->wait_until_ns =
        sp_clock_monotonic_ns(service->clock) + SP_SERVICE_NAME_WAIT_NS;
}

void sp_service_name_end_wait(sp_service_name *service) {
  service->wait_until_ns = sp_clock_monotonic_ns(service->clock);
}

bool sp_service_name_is_awaited(const sp_service_name *service,
                                uint64_t queued_bytes) {
  return service->open &&
         queued_bytes <=
             service->settings->queue_bytes / SERVICE_WAIT_DIVISOR &&
         sp_clock_monotonic_ns(service->clock) < service->wait_until_ns;
}

void sp_service_name_update_series(sp_service_name *service,
                                   sp_series *series) {
  if (!service->next_series.text)
    return;
  sp_series_dispose(series);
  *series = service->next_series;
  service->next_series.text = NULL;
}

bool sp_service_name_fetch_news(sp_service_name *service,
                                sp_service_news *out) {
  const char *name = sp_service_name_text(service);

  *out = (sp_service_news){0};
  if (!service->renamed && !service->other_name)
    return false;
  if (service->renamed)
    service_copy(service->mem, &out->name, name);
  if (service->other_name)
    service_copy(service->mem, &out->own, name);
  out->other = service->other_name;
  service->other_name = NULL;
  service->renamed = false;
  return true;
}

void sp_service_news_log(sp_service_news *news, const sp_mem *mem,
                         sp_log *log) {
  if (news->name)
    sp_log_line(log, SPANPROF_LOG_INFO,
                "profiles have the service name of the spans, \"%s\"",
                news->name);
  if (news->own && news->other)
    sp_log_line(log, SPANPROF_LOG_WARN,
                "spans have the service name \"%s\", but profiles have \"%s\", "
                "so no trace leads to its profile: give both the same name, "
                "for example by setting only OTEL_SERVICE_NAME",
                news->other, news->own);
  sp_mem_free(mem, news->name);
  sp_mem_free(mem, news->own);
  sp_mem_free(mem, news->other);
}

void sp_service_name_after_fork_child(sp_service_name *service) {
  service->open = service->settings->name_open;
  service->wait_until_ns = 0;
  service_copy(service->mem, &service->other_name, NULL);
}

void sp_service_name_dispose(sp_service_name *service) {
  sp_series_dispose(&service->next_series);
  sp_mem_free(service->mem, service->facts.service_name);
  sp_mem_free(service->mem, service->facts.service_namespace);
  sp_mem_free(service->mem, service->facts.runtime_name);
  sp_mem_free(service->mem, service->facts.runtime_version);
  sp_mem_free(service->mem, service->other_name);
}
