#include "api_call.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/http/message/connect_envelope.h"
#include "server/model/query_time.h"
#include "server/query/selector/classic_query.h"
#include "settings/unix_time.h"
#include "util/text/number.h"
#include "util/text/utf8.h"

#define API_TYPE_DEFAULT "process_cpu:cpu:nanoseconds:cpu:nanoseconds"
#define API_HOUR_MS      3600000

const char *sp_api_parameter(const sp_api *api, const char *name) {
  const char *text = sp_http_query(api->query.http, name);

  return text && *text ? text : NULL;
}

/* Get a parameter of a side: for `name` "from", the parameter "from" without a
 * side, or "leftFrom" for the side "left". */
static const char *api_side_parameter(const sp_query *query, const char *side,
                                      const char *name, char key[32]) {
  const char *text;

  snprintf(key, 32, "%s%s", side, name);
  if (*side && key[strlen(side)] >= 'a')
    key[strlen(side)] = (char)(key[strlen(side)] - 'a' + 'A');
  text = sp_http_query(query->http, key);
  return text && *text ? text : NULL;
}

/* Read a time in UTC. *out is unchanged if the parameter is missing. */
static spanprof_status api_time(sp_query *query, const char *side,
                                const char *name, int64_t now_ns,
                                sp_unix_period *out) {
  char key[32];
  const char *text = api_side_parameter(query, side, name, key);
  const char *wrong =
      text ? sp_unix_period_parse(text, now_ns, NULL, out) : NULL;

  if (wrong)
    return sp_query_invalid(query, "%s: Can't read \"%s\". %s", key, text,
                            wrong);
  return SPANPROF_OK;
}

static int64_t api_ms(int64_t ns) {
  const int64_t ms = ns / (int64_t)SP_NS_PER_MS;

  /* In Pyroscope's calls, 0 means that the time is missing, so use 1 ms
   * instead. */
  return ms ? ms : 1;
}

/* Read the time range of a side. */
static spanprof_status api_range(sp_query *query, const char *side,
                                 int64_t *from_ms, int64_t *until_ms) {
  const int64_t now_ns = (int64_t)sp_clock_unix_ns(query->serve->clock);
  const int64_t hour_ago_ns = now_ns + sp_query_ns(-API_HOUR_MS);
  sp_unix_period from = {hour_ago_ns, hour_ago_ns}, until = {now_ns, now_ns};
  spanprof_status st = api_time(query, side, "from", now_ns, &from);

  /* If only "from" is given and it names a day or a week, that is the range. */
  if (from.from_ns < from.until_ns)
    until = from;
  if (!st)
    st = api_time(query, side, "until", now_ns, &until);
  *from_ms = api_ms(from.from_ns);
  *until_ms = api_ms(sp_unix_period_end(&from, &until));
  return st;
}

/* Add the ids in a parameter, separated by commas, to a plan. */
static spanprof_status
api_ids(sp_query_plan *plan, const char *side, const char *name,
        spanprof_status (*add)(sp_query_plan *, const sp_texts *)) {
  sp_texts ids = {0};
  char key[32];
  const char *text = api_side_parameter(plan->query, side, name, key);
  spanprof_status st = SPANPROF_OK;

  while (!st && text && *text) {
    const size_t bytes = strcspn(text, ",");

    st = sp_texts_add(&ids, &plan->query->arena, text, bytes);
    text += bytes + (text[bytes] == ',');
  }
  return st ? st : add(plan, &ids);
}

/* Get the selector and the profile type. The type comes from a parameter, from
 * the text before the selector or from the ending of a classic application
 * name. The default is CPU. */
static spanprof_status api_labels_and_type(sp_query_plan *plan,
                                           const char *side) {
  char key[32];
  const char *text = api_side_parameter(plan->query, side, "query", key);
  const char *type = api_side_parameter(plan->query, side, "type", key);
  const char *classic = NULL;
  const sp_matcher *name;
  spanprof_status st = SPANPROF_OK;

  if (text)
    st = sp_label_query_parse(&plan->matchers, text, &classic,
                              &plan->query->fault);
  if (st)
    sp_query_fault_add_hint(&plan->query->fault);
  name = st ? NULL : sp_matcher_list_find(&plan->matchers, "__name__");
  if (name && sp_profile_type_valid(name->value)) {
    type = type ? type : name->value;
    sp_matcher_list_remove(&plan->matchers, name);
  }
  if (!type)
    type = classic ? classic : API_TYPE_DEFAULT;
  else if (!strchr(type, ':') && sp_classic_type(type))
    type = sp_classic_type(type);
  return st ? st : sp_query_plan_type(plan, type);
}

spanprof_status sp_api_plan_side(sp_query_plan *plan, const char *side) {
  int64_t from = 0, until = 0;
  spanprof_status st = api_labels_and_type(plan, side);

  if (!st)
    st = api_range(plan->query, side, &from, &until);
  if (!st)
    st = sp_query_plan_range(plan, from, until);
  if (!st)
    st = api_ids(plan, side, "span", sp_query_plan_spans);
  if (!st)
    st = api_ids(plan, side, "trace", sp_query_plan_traces);
  if (!st)
    st = api_ids(plan, side, "profile", sp_query_plan_profiles);
  return st;
}

spanprof_status sp_api_range(sp_api *api, int64_t *from_ms, int64_t *until_ms) {
  return api_range(&api->query, "", from_ms, until_ms);
}

spanprof_status sp_api_plan(sp_api *api) {
  return sp_api_plan_side(&api->plan, "");
}

spanprof_status sp_api_number(sp_api *api, const char *name, int64_t otherwise,
                              int64_t *out) {
  const char *text = sp_api_parameter(api, name);
  uint64_t number;

  *out = otherwise;
  if (!text)
    return SPANPROF_OK;
  if (!sp_number_is(text, INT64_MAX, &number))
    return sp_query_invalid(&api->query,
                            "%s must be 0 or a positive whole number: \"%s\"",
                            name, text);
  *out = (int64_t)number;
  return SPANPROF_OK;
}

spanprof_status sp_api_page(sp_api *api, size_t *limit, size_t *after) {
  int64_t number = 0, begin = 0;
  spanprof_status st =
      sp_api_number(api, "limit", SP_API_LIMIT_DEFAULT, &number);

  if (!st && (number == 0 || number > SP_API_LIMIT_MAX))
    st = sp_query_invalid(&api->query, "limit must be from 1 to %d",
                          SP_API_LIMIT_MAX);
  if (!st)
    st = sp_api_number(api, "after", 0, &begin);
  *limit = (size_t)number;
  *after = (size_t)begin;
  return st;
}

void sp_api_put_after(sp_api *api, size_t next, size_t count) {
  char text[24];

  sp_json_key(&api->json, "after");
  snprintf(text, sizeof text, "%zu", next);
  if (next < count)
    sp_json_text(&api->json, text);
  else
    sp_json_null(&api->json);
}

void sp_api_put_span_id(sp_api *api, const char *name, uint64_t span_id) {
  char text[24];

  snprintf(text, sizeof text, "%016" PRIx64, span_id);
  sp_json_key(&api->json, name);
  if (span_id)
    sp_json_text(&api->json, text);
  else
    sp_json_null(&api->json);
}

void sp_api_put_trace_id(sp_api *api, const char *name,
                         const sp_trace_id *trace_id) {
  char text[40];

  snprintf(text, sizeof text, "%016" PRIx64 "%016" PRIx64, trace_id->hi,
           trace_id->lo);
  sp_json_key(&api->json, name);
  if (trace_id->hi || trace_id->lo)
    sp_json_text(&api->json, text);
  else
    sp_json_null(&api->json);
}

static const char *api_title(int status) {
  switch (status) {
  case 400:
    return "Bad Request";
  case 404:
    return "Not Found";
  case 429:
    return "Too Many Requests";
  case 503:
    return "Service Unavailable";
  case 504:
    return "Gateway Timeout";
  }
  return "Internal Server Error";
}

static void api_problem(sp_api *api, spanprof_status st) {
  sp_query_fault *fault = &api->query.fault;
  sp_http_response *response = api->response;
  char detail[sizeof fault->message];
  bool changed;
  size_t size;

  sp_query_explain(&api->query, st);
  response->status = sp_connect_status(fault->code);
  size = sp_utf8_clean(fault->message, strlen(fault->message), detail,
                       sizeof detail - 1, &changed);
  sp_buffer_dispose(&response->body);
  sp_buffer_init(&response->body, api->query.serve->mem);
  api->json = sp_json_of(&response->body);
  sp_json_open(&api->json, '{');
  sp_json_member_text(&api->json, "type", "about:blank");
  sp_json_member_text(&api->json, "title", api_title(response->status));
  sp_json_member_int(&api->json, "status", response->status);
  sp_json_key(&api->json, "detail");
  sp_json_text_bytes(&api->json, detail, size);
  if (fault->column)
    sp_json_member_int(&api->json, "column", fault->column);
  if (api->side)
    sp_json_member_text(&api->json, "side", api->side);
  sp_json_close(&api->json, '}');
  sp_http_set(response, "Content-Type", "application/problem+json");
}

static void api_handle(void *data, const sp_http_request *http,
                       sp_http_response *response) {
  const sp_api_route *route = data;
  sp_api api = {.response = response, .json = sp_json_of(&response->body)};
  spanprof_status st;

  sp_query_init(&api.query, route->serve, http, response);
  sp_query_plan_init(&api.plan, &api.query);
  sp_http_set(response, "Content-Type", "application/json");
  st = route->run(&api);
  if (!st)
    st = sp_query_end(&api.query);
  if (st)
    api_problem(&api, st);
  sp_query_plan_dispose(&api.plan);
  sp_query_dispose(&api.query);
}

spanprof_status sp_api_route_add(sp_http_routes *routes, sp_api_route *route,
                                 sp_serve *serve) {
  route->serve = serve;
  return sp_http_routes_add(
      routes, &(sp_http_route){.methods = route->methods,
                               .path = route->path,
                               .handler = api_handle,
                               .data = route,
                               .flags = SP_HTTP_SLOW | SP_HTTP_ALLOW_HEADER,
                               .body_max = route->body_max});
}
