/* The filter of the calls that list traces, and the call that lists the names
 * of root spans. */
#include <string.h>

#include "api_traces.h"
#include "server/model/query_time.h"

#define TRACE_FILTER_ATTRIBUTES_MAX 16

static bool trace_filter_is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Copy a value, which ends before a space or, if it begins with a quote, at the
 * next quote that has no backslash before it. Moves *text behind the value.
 * Sets *out to NULL if the closing quote is missing. */
static spanprof_status trace_filter_value(sp_api *api, const char **text,
                                          const char **out) {
  const char *from = *text;
  const bool is_quoted = *from == '"';
  char *copy = sp_arena_text(&api->query.arena, from, strlen(from)), *to = copy;

  *out = NULL;
  if (!copy)
    return api->query.arena.st;
  for (from += is_quoted;
       *from && (is_quoted ? *from != '"' : !trace_filter_is_space(*from));
       from++) {
    if (is_quoted && *from == '\\' && from[1])
      from++;
    *to++ = *from;
  }
  *to = '\0';
  if (!is_quoted || *from == '"')
    *out = copy;
  *text = from + (is_quoted && *from);
  return SPANPROF_OK;
}

/* Parse one condition, KEY=VALUE or KEY, and move *text behind it. */
static spanprof_status trace_filter_attribute(sp_api *api, const char **text,
                                              sp_store_attribute *out) {
  const char *from = *text;
  size_t bytes = 0;
  spanprof_status st;

  while (from[bytes] && from[bytes] != '=' &&
         !trace_filter_is_space(from[bytes]))
    bytes++;
  *text = from + bytes;
  *out = (sp_store_attribute){
      .key = sp_arena_text(&api->query.arena, from, bytes)};
  if (!out->key)
    return api->query.arena.st;
  if (bytes == 0)
    return sp_query_invalid(&api->query,
                            "attributes: a name is missing before \"=\"");
  if (**text != '=')
    return SPANPROF_OK;
  ++*text;
  st = trace_filter_value(api, text, &out->value);
  if (!st && !out->value)
    return sp_query_invalid(&api->query,
                            "attributes: the closing quote of %s is missing",
                            out->key);
  return st;
}

/* Parse conditions that are separated by spaces, as in logfmt. */
static spanprof_status trace_filter_attributes(sp_api *api,
                                               sp_store_span_filter *out) {
  const char *text = sp_api_parameter(api, "attributes");
  sp_store_attribute *all =
      sp_arena_new(&api->query.arena, TRACE_FILTER_ATTRIBUTES_MAX, sizeof *all);
  size_t count = 0;
  spanprof_status st = SPANPROF_OK;

  if (!all)
    return api->query.arena.st;
  while (!st && text && *text) {
    if (trace_filter_is_space(*text))
      text++;
    else if (count == TRACE_FILTER_ATTRIBUTES_MAX)
      return sp_query_invalid(&api->query,
                              "attributes: there are more than %d conditions",
                              TRACE_FILTER_ATTRIBUTES_MAX);
    else
      st = trace_filter_attribute(api, &text, &all[count++]);
  }
  out->attributes = all;
  out->attribute_count = count;
  return st;
}

spanprof_status sp_api_trace_filter(sp_api *api, sp_store_span_filter *out) {
  const char *status = sp_api_parameter(api, "status");
  const sp_selector *selector = &api->plan.selector;
  int64_t shortest_ms = 0;
  spanprof_status st = sp_api_plan(api);

  *out = (sp_store_span_filter){.roots_only = true,
                                .cancel = api->query.http->cancel};
  if (!st)
    st = sp_api_number(api, "minDurationMs", 0, &shortest_ms);
  if (!st && status && strcmp(status, "error") != 0)
    st = sp_query_invalid(
        &api->query, "the only value of status is error, not \"%s\"", status);
  if (!st)
    st = trace_filter_attributes(api, out);
  if (st)
    return st;
  out->service = sp_api_parameter(api, "service");
  out->name = sp_api_parameter(api, "name");
  out->from_ns = sp_query_ns(selector->from_ms);
  out->until_ns = sp_query_ns(selector->until_ms);
  if (shortest_ms > INT64_MAX / 1000000)
    shortest_ms = INT64_MAX / 1000000;
  out->duration_min_ns = sp_query_ns(shortest_ms);
  out->trace_ids = selector->trace_ids;
  out->trace_count = selector->trace_count;
  out->with_errors = status != NULL;
  return SPANPROF_OK;
}

/* The rows of one page of root spans. */
typedef struct roots_page {
  sp_json *json;
  size_t limit, count;
} roots_page;

static bool roots_put(void *data, const sp_store_span_name *name) {
  roots_page *page = data;

  if (page->count++ == page->limit)
    return false;
  sp_json_open(page->json, '{');
  sp_json_member_text(page->json, "service", name->service);
  sp_json_member_text(page->json, "name", name->name);
  sp_json_member_int(page->json, "traces", name->spans);
  sp_json_close(page->json, '}');
  return true;
}

spanprof_status sp_api_roots(sp_api *api) {
  roots_page page = {.json = &api->json};
  size_t after = 0;
  sp_store_span_filter filter;
  spanprof_status st = sp_api_trace_filter(api, &filter);

  if (!st)
    st = sp_api_page(api, &page.limit, &after);
  if (st)
    return st;
  filter.limit = page.limit + 1;
  filter.offset = after;
  sp_json_open(&api->json, '{');
  sp_json_member_open(&api->json, "roots", '[');
  st = sp_store_span_names(api->query.serve->store, &filter, roots_put, &page);
  sp_json_close(&api->json, ']');
  sp_api_put_after(api, after + sp_min_u64(page.count, page.limit),
                   after + page.count);
  sp_json_close(&api->json, '}');
  return st;
}
