#include "state_routes.h"

#include <inttypes.h>

#include "server/store/store.h"
#include "util/system/status.h"

static void state_ready(void *data, const sp_http_request *request,
                        sp_http_response *response) {
  (void)data;
  (void)request;
  sp_http_answer(response, 200, "text/plain", "ready\n");
}

static void state_metric(sp_buffer *out, const char *name, const char *type,
                         const char *help, uint64_t value) {
  sp_buffer_format(out, "# HELP %s %s\n# TYPE %s %s\n%s %" PRIu64 "\n", name,
                   help, name, type, name, value);
}

static void state_received(const sp_serve *serve, sp_buffer *out) {
  const sp_serve_counters *counters = &serve->counters;

  state_metric(out, "pyroscope_distributor_profiles_received_total", "counter",
               "Profiles stored.", sp_counted(&counters->profiles));
  state_metric(out, "pyroscope_distributor_received_samples_total", "counter",
               "Samples of stored profiles.", sp_counted(&counters->samples));
  state_metric(out, "pyroscope_distributor_received_compressed_bytes_total",
               "counter", "Bytes of accepted profiles, as received.",
               sp_counted(&counters->compressed_bytes));
  state_metric(out, "pyroscope_distributor_received_decompressed_bytes_total",
               "counter", "Bytes of accepted profiles, decompressed.",
               sp_counted(&counters->decompressed_bytes));
  state_metric(out, "pyroscope_discarded_profiles_total", "counter",
               "Profiles refused.", sp_counted(&counters->discarded_profiles));
  state_metric(out, "pyroscope_discarded_bytes_total", "counter",
               "Bytes of refused profiles.",
               sp_counted(&counters->discarded_bytes));
  state_metric(out, "spanprof_discarded_values_total", "counter",
               "Negative values in stored profiles, which are ignored.",
               sp_counted(&counters->discarded_values));
  state_metric(out, "spanprof_spans_received_total", "counter",
               "Spans of traces stored.", sp_counted(&counters->spans));
  state_metric(out, "spanprof_spans_discarded_total", "counter",
               "Spans of traces that were not stored.",
               sp_counted(&counters->discarded_spans));
}

static void state_stored(const sp_store_stats *stats, sp_buffer *out) {
  state_metric(out, "spanprof_store_profiles", "gauge",
               "Profiles in the store.", stats->profiles);
  state_metric(out, "spanprof_store_blocks", "gauge",
               "Blocks of the store that each contain several profiles.",
               stats->blocks);
  state_metric(out, "spanprof_store_damaged_blocks", "gauge",
               "Damaged blocks found since the start.", stats->damaged_blocks);
  state_metric(out, "spanprof_store_bytes", "gauge",
               "Bytes of the store on disk.", stats->bytes);
  state_metric(out, "spanprof_store_limit_bytes", "gauge",
               "Limit of the store's bytes, set by --max-bytes or the volume.",
               stats->limit_bytes);
  state_metric(out, "spanprof_store_series", "gauge", "Series in the store.",
               stats->series);
  state_metric(out, "spanprof_store_other_series_total", "counter",
               "Label sets beyond the series limits, stored with [other].",
               stats->other_series);
  state_metric(out, "spanprof_store_dropped_profiles_total", "counter",
               "Profiles deleted because of their age or the store's size.",
               stats->dropped_profiles);
  state_metric(out, "spanprof_store_dropped_blocks_total", "counter",
               "Blocks deleted because of their age or the store's size.",
               stats->dropped_blocks);
  state_metric(out, "spanprof_store_repeated_profiles_total", "counter",
               "Repeated uploads of profiles, which are stored once.",
               stats->repeated_profiles);
}

static void state_metrics(void *data, const sp_http_request *request,
                          sp_http_response *response) {
  sp_state *state = data;
  sp_http_server *http = atomic_load(&state->http);
  sp_store_stats stats;

  (void)request;
  sp_http_answer(response, 200, "text/plain; version=0.0.4; charset=utf-8", "");
  if (sp_store_get_stats(state->serve->store, &stats)) {
    sp_http_answer(response, 503, "text/plain", spanprof_last_error());
    return;
  }
  sp_buffer_text(&response->body,
                 "# HELP pyroscope_build_info Version of the server.\n"
                 "# TYPE pyroscope_build_info gauge\n"
                 "pyroscope_build_info{version=\"spanprof-" SPANPROF_VERSION
                 "\"} 1\n");
  state_metric(&response->body, "pyroscope_inflight_requests", "gauge",
               "Requests in progress.",
               http ? sp_http_server_inflight(http) : 0);
  if (http)
    sp_http_server_durations(http, &response->body);
  state_received(state->serve, &response->body);
  state_stored(&stats, &response->body);
  sp_scraper_metrics(atomic_load(&state->scraper), &response->body);
}

/* Answers unknown calls as Pyroscope's gateway does. */
static void state_unknown_call(void *data, const sp_http_request *request,
                               sp_http_response *response) {
  (void)data;
  (void)request;
  sp_http_answer(response, 404, "application/json",
                 "{\"code\":5,\"message\":\"Not Found\",\"details\":[]}");
}

spanprof_status sp_state_routes(sp_http_routes *routes, sp_state *state) {
  const sp_http_route given[] = {
      {.methods = "GET",
       .path = "/ready",
       .handler = state_ready,
       .flags = SP_HTTP_OPEN},
      {.methods = "GET",
       .path = "/healthz",
       .handler = state_ready,
       .flags = SP_HTTP_OPEN},
      {.methods = "GET",
       .path = "/metrics",
       .handler = state_metrics,
       .data = state},
      {.methods = "GET,POST,PUT,PATCH,DELETE",
       .path = "/api/*",
       .handler = state_unknown_call,
       .body_max = (size_t)1 << 20},
  };
  spanprof_status st = SPANPROF_OK;
  size_t i;

  for (i = 0; !st && i < SP_COUNT_OF(given); i++)
    st = sp_http_routes_add(routes, &given[i]);
  return st;
}
