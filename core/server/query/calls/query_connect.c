#include "query_connect.h"

#include "adhoc_calls.h"
#include "connect_transport.h"
#include "query_calls.h"

typedef struct connect_method {
  const char *path;
  const sp_message *request;
  sp_query_call call;
  unsigned flags;
  size_t body_max;
} connect_method;

#define QUERIER(name, message, call)                                 \
  {                                                                  \
    "/querier.v1.QuerierService/" name, &sp_message_##message, call, \
        SP_HTTP_SLOW, SP_QUERY_BODY_MAX                              \
  }
/* Grafana's app Profiles Drilldown calls Upload, Get and Diff through a
 * Pyroscope data source. */
#define ADHOC(name, message, call, flags)                                 \
  {                                                                       \
    "/adhocprofiles.v1.AdHocProfileService/" name, &sp_message_##message, \
        call, flags, SP_ADHOC_BODY_MAX                                    \
  }
#define SETTINGS(name, message, call, flags)                                  \
  {                                                                           \
    "/settings.v1.SettingsService/" name, &sp_message_##message, call, flags, \
        SP_QUERY_BODY_MAX                                                     \
  }

static const connect_method connect_methods[] = {
    QUERIER("ProfileTypes", profile_types, sp_call_profile_types),
    QUERIER("LabelNames", label_names, sp_call_label_names),
    QUERIER("LabelValues", label_values, sp_call_label_values),
    QUERIER("Series", series, sp_call_series),
    QUERIER("SelectMergeStacktraces", stacktraces, sp_call_stacktraces),
    QUERIER("SelectMergeSpanProfile", span_profile, sp_call_span_profile),
    QUERIER("SelectMergeProfile", profile, sp_call_profile),
    QUERIER("Diff", diff, sp_call_diff),
    QUERIER("SelectSeries", select_series, sp_call_select_series),
    QUERIER("SelectHeatmap", heatmap, sp_call_heatmap),
    QUERIER("GetProfileStats", empty, sp_call_profile_stats),
    {"/version.v1.Version/Version", &sp_message_empty, sp_call_version, 0,
     SP_QUERY_BODY_MAX},
    {"/capabilities.v1.FeatureFlagsService/GetFeatureFlags", &sp_message_empty,
     sp_call_feature_flags, 0, SP_QUERY_BODY_MAX},
    /* `profilecli query series --api-type` sends the querier's call Series to
     * these paths. */
    {"/ingester.v1.IngesterService/Series", &sp_message_series, sp_call_series,
     SP_HTTP_SLOW, SP_QUERY_BODY_MAX},
    {"/storegateway.v1.StoreGatewayService/Series", &sp_message_series,
     sp_call_series, SP_HTTP_SLOW, SP_QUERY_BODY_MAX},
    /* Clients call these methods before all others of the same services. The
     * answers keep them from calling the others, which do not exist here. */
    {"/vcs.v1.VCSService/GithubApp", &sp_message_empty, sp_call_no_github, 0,
     SP_QUERY_BODY_MAX},
    {"/debuginfo.v1alpha1.DebuginfoService/ShouldInitiateUpload",
     &sp_message_empty, sp_call_no_debuginfo, 0, SP_QUERY_BODY_MAX},
    SETTINGS("Get", empty, sp_call_settings_get, 0),
    SETTINGS("Set", setting_set, sp_call_settings_set, SP_HTTP_CHANGES),
    SETTINGS("Delete", name, sp_call_settings_delete, SP_HTTP_CHANGES),
    ADHOC("Upload", adhoc_upload, sp_call_adhoc_upload,
          SP_HTTP_CHANGES | SP_HTTP_SLOW),
    ADHOC("Get", adhoc_get, sp_call_adhoc_get, SP_HTTP_SLOW),
    ADHOC("List", empty, sp_call_adhoc_list, 0),
    ADHOC("Diff", adhoc_diff, sp_call_adhoc_diff, SP_HTTP_SLOW),
};

/* The data of a route: a method, and the server that runs it. */
typedef struct connect_route {
  sp_serve *serve;
  const connect_method *method;
} connect_route;

static spanprof_status connect_run(sp_query *query,
                                   const connect_method *method,
                                   const sp_transport *transport,
                                   sp_http_response *response) {
  sp_query_request request = {0};
  sp_reply reply;
  spanprof_status st;

  if (transport->is_json)
    st = sp_query_request_json(&request, method->request, &query->arena,
                               transport->body, transport->size, &query->fault);
  else
    st =
        sp_query_request_proto(&request, method->request, &query->arena,
                               transport->body, transport->size, &query->fault);
  if (st)
    return st;
  sp_reply_begin(&reply, &response->body, transport->is_json);
  st = method->call(query, &request, &reply);
  if (st)
    return st;
  sp_reply_end(&reply);
  return sp_query_end(query);
}

static void connect_handle(void *data, const sp_http_request *http,
                           sp_http_response *response) {
  const connect_route *route = data;
  sp_transport transport;
  sp_query query;
  spanprof_status st;

  sp_query_init(&query, route->serve, http, response);
  if (sp_transport_open(&transport, &query, route->method->body_max,
                        response)) {
    st = connect_run(&query, route->method, &transport, response);
    if (st) {
      sp_query_explain(&query, st);
      sp_transport_refuse(&query.fault, response);
    } else {
      sp_http_set(response, "Accept-Encoding", "gzip");
      response->gzip = transport.is_gzip;
      sp_http_pack(http, response);
    }
  }
  sp_transport_dispose(&transport);
  sp_query_dispose(&query);
}

spanprof_status sp_query_connect_routes(sp_http_routes *routes,
                                        sp_serve *serve) {
  /* Static, because a process has one server, whose routes are never
   * removed. */
  static connect_route all[SP_COUNT_OF(connect_methods)];
  spanprof_status st = SPANPROF_OK;
  size_t i;

  for (i = 0; !st && i < SP_COUNT_OF(connect_methods); i++) {
    const connect_method *method = &connect_methods[i];

    all[i] = (connect_route){.serve = serve, .method = method};
    st = sp_http_routes_add(
        routes, &(sp_http_route){.methods = "POST",
                                 .path = method->path,
                                 .handler = connect_handle,
                                 .data = &all[i],
                                 .flags = method->flags | SP_HTTP_ALLOW_HEADER,
                                 .body_max = method->body_max});
  }
  return st;
}
