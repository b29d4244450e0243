/* The server's own calls: responses, errors, and the memory that calls use. */
#include <malloc.h>
#include <stdlib.h>

#include "calls_fixture.h"

/* Bytes that a call has allocated: now, and the most so far. */
static size_t counted_bytes, counted_most;

static void *counted_resize(void *data, void *old, size_t size) {
  const size_t before = old ? malloc_usable_size(old) : 0;
  void *p = sp_mem_default.resize(data, old, size);

  counted_bytes += (p ? malloc_usable_size(p) : 0) - (p || !size ? before : 0);
  if (counted_bytes > counted_most)
    counted_most = counted_bytes;
  return p;
}

static void a_query_of_a_stopping_server_is_refused(void) {
  answer a;

  sp_cancel_because(&calls_cancel, SP_CANCEL_STOP);
  a = post(QUERIER "SelectMergeStacktraces", "application/json",
           "{" SELECT ",\"labelSelector\":\"{}\"}");
  calls_cancel = (sp_cancel){0};
  check_has(&a, 503, "\"code\":\"unavailable\"");
  check_has(&a, 503, "the server is stopping");
  answer_dispose(&a);
}

static void own_calls_list_the_stored_data(void) {
  static const char *const range[][2] = {{"from", FROM},
                                         {"until", UNTIL},
                                         {"query", "shop.cpu"},
                                         {"by", "id"},
                                         {"limit", "2"}};
  static const char *const labels[][2] = {
      {"from", FROM}, {"until", UNTIL}, {"label", "span_name"}};
  answer a = get("/api/v1/applications", range, 2);

  check_has(&a, 200,
            "{\"applications\":[{\"name\":\"shop\",\"types\":"
            "[\"" FIXTURE_TYPE "\"]}]}");
  answer_dispose(&a);
  a = get("/api/v1/spans", range, 3);
  check_has(&a, 200, "\"total\":300000000,\"samples\":30,\"spans\":10");
  check_has(&a, 200, "\"rest\":700000000");
  answer_dispose(&a);
  a = get("/api/v1/spans", range, 5);
  check_has(&a, 200, "\"count\":10");
  check_has(&a, 200, "\"after\":\"2\"");
  answer_dispose(&a);
  a = get("/api/v1/labels", labels, 3);
  check_has(&a, 200,
            "\"share\":0.3,\"profiles\":10,\"average\":30000000,"
            "\"deviation\":0");
  answer_dispose(&a);
  a = get("/api/v1/gaps", range, 3);
  check_has(&a, 200, "\"profiles\":10}],\"before\":null,\"after\":null}");
  answer_dispose(&a);
}

static void an_empty_range_reports_the_nearest_data(void) {
  static const char *const range[][2] = {{"from", "1700002000"},
                                         {"until", "1700003000"}};
  answer a = get("/api/v1/gaps", range, 2);

  check_has(&a, 200, "{\"ranges\":[],\"before\":17000000");
  answer_dispose(&a);
}

#define GAPS_PROFILES 12

/* Memory that suffices for one copy of the labels of 300 series, but not for a
 * copy at each of their 4,200 points. */
#define GAPS_LABELS_BYTES ((size_t)128 << 10)

/* Store GAPS_PROFILES profiles 10 s apart, and two more after a gap of 100 s.
 * Each has `series` series. */
static void gaps_put(const char *service, int series) {
  const sp_trace_id none = {0};
  char name[16];
  int i, k;

  for (i = 0; i < GAPS_PROFILES + 2; i++) {
    const int at_s = 20000 + 10 * i + (i < GAPS_PROFILES ? 0 : 100);
    sp_received *profile =
        fixture_profile(service, FIXTURE_TIME + at_s * FIXTURE_SECOND);

    for (k = 0; k < series; k++) {
      snprintf(name, sizeof name, "GET /%d", k);
      fixture_sample(profile, "main", name, 0, none, 10000000);
    }
    fixture_put(calls_store, profile);
  }
}

static size_t gaps_memory(const char *query) {
  static const sp_mem counted = {.resize = counted_resize};
  const char *const parameters[][2] = {
      {"from", "1700019000"}, {"until", "1700021000"}, {"query", query}};
  answer a;

  counted_bytes = counted_most = 0;
  calls_serve.mem = &counted;
  a = get("/api/v1/gaps", parameters, 3);
  calls_serve.mem = &sp_mem_default;
  check_has(&a, 200,
            "{\"ranges\":[{\"from\":1700020000000,\"until\":1700020120000,"
            "\"profiles\":12},{\"from\":1700020220000,"
            "\"until\":1700020240000,\"profiles\":2}],"
            "\"before\":null,\"after\":null}");
  answer_dispose(&a);
  return counted_most;
}

static void a_profile_with_many_series_is_one_profile_for_gaps(void) {
  size_t one;

  gaps_put("one", 1);
  gaps_put("all", 300);
  one = gaps_memory("one.cpu");
  CHECK(one > 0);
  CHECK(gaps_memory("all.cpu") < one + GAPS_LABELS_BYTES);
  CHECK(!sp_store_compact(calls_store));
  gaps_memory("all.cpu");
}

static void a_trace_has_the_cpu_time_of_its_spans(void) {
  const sp_trace_id id = {.hi = 1, .lo = 2};
  const sp_store_span spans[] = {{.trace_id = id,
                                  .span_id = 100,
                                  .name = "GET /",
                                  .service = "shop",
                                  .start_ns = FIXTURE_TIME,
                                  .duration_ns = FIXTURE_SECOND,
                                  .status_message = "",
                                  .attributes = "{}"},
                                 {.trace_id = id,
                                  .span_id = 6,
                                  .parent_id = 100,
                                  .name = "work",
                                  .service = "shop",
                                  .start_ns = FIXTURE_TIME + 1,
                                  .duration_ns = 60 * FIXTURE_SECOND,
                                  .status_message = "",
                                  .attributes = "{\"a\":1}"}};
  static const char *const range[][2] = {
      {"from", FROM}, {"until", UNTIL}, {"sort", "dearest"}};
  static const char *const of_trace[][2] = {
      {"from", FROM},
      {"until", UNTIL},
      {"trace", "00000000000000010000000000000002"},
      {"format", "folded"}};
  answer a;

  CHECK(!sp_store_put_spans(calls_store, spans, 2));
  a = get("/api/v1/traces", range, 3);
  check_has(&a, 200, "\"rootSpanId\":\"0000000000000064\",\"name\":\"GET /\"");
  check_has(&a, 200, "\"total\":30000000");
  answer_dispose(&a);
  a = get("/api/v1/trace/00000000000000010000000000000002", NULL, 0);
  check_has(&a, 200, "\"attributes\":{},\"own\":0,\"total\":30000000");
  check_has(&a, 200,
            "\"attributes\":{\"a\":1},\"own\":30000000,"
            "\"total\":30000000,\"samples\":3}");
  answer_dispose(&a);
  a = get("/api/v1/profile", of_trace, 4);
  check_has(&a, 200, "main;work 30000000\n");
  CHECK(!strstr(a.text, "idle"));
  answer_dispose(&a);
  a = get("/api/v1/spans", of_trace, 3);
  check_has(&a, 200, "\"total\":30000000,\"samples\":3,\"spans\":1");
  answer_dispose(&a);
  a = get("/api/v1/trace/00000000000000010000000000000003", NULL, 0);
  check_has(&a, 404, "\"title\":\"Not Found\",\"status\":404");
  answer_dispose(&a);
}

/* There are nine short spans and one of a minute, which has the id 6. */
static void span_names_have_quantiles_of_their_durations(void) {
  static const char *const range[][2] = {{"from", FROM}, {"until", UNTIL}};
  static const char *const by_id[][2] = {{"from", FROM},
                                         {"until", UNTIL},
                                         {"by", "id"},
                                         {"span", "0000000000000003"}};
  static const char *const without_samples[][2] = {
      {"from", FROM},
      {"until", UNTIL},
      {"by", "id"},
      {"span", "0000000000000064"}};
  sp_store_span span = {.trace_id = {.hi = 3, .lo = 4},
                        .parent_id = 100,
                        .name = "GET /",
                        .service = "shop",
                        .start_ns = FIXTURE_TIME,
                        .status_message = "",
                        .attributes = "{}"};
  answer a;

  for (span.span_id = 1; span.span_id <= 10; span.span_id++) {
    span.duration_ns = (int64_t)span.span_id * FIXTURE_SECOND;
    if (span.span_id != 6)
      CHECK(!sp_store_put_spans(calls_store, &span, 1));
  }
  a = get("/api/v1/spans", range, 2);
  check_has(&a, 200,
            "\"traced\":10,\"durationNs\":109000000000,"
            "\"longestNs\":60000000000,\"p50Ns\":5000000000,"
            "\"p99Ns\":60000000000");
  answer_dispose(&a);
  a = get("/api/v1/spans", by_id, 4);
  check_has(&a, 200, "\"p50Ns\":3000000000,\"p99Ns\":3000000000");
  answer_dispose(&a);
  a = get("/api/v1/spans", without_samples, 4);
  check_has(&a, 200,
            "{\"name\":\"GET /\",\"service\":\"shop\","
            "\"spanId\":\"0000000000000064\","
            "\"traceId\":\"00000000000000010000000000000002\",\"total\":0,"
            "\"samples\":0,\"spans\":1,\"traced\":1,"
            "\"durationNs\":1000000000");
  check_has(&a, 200, "\"count\":1,");
  answer_dispose(&a);
}

/* The table of spans is hidden, so that a call that reads spans fails. */
static void spans_are_read_only_if_samples_can_have_them(void) {
  static const char *const samples[][2] = {{"from", FROM}, {"until", UNTIL}};
  static const char *const none[][2] = {{"from", "1600000000"},
                                        {"until", "1600000060"}};
  static const char *const none_by_id[][2] = {
      {"from", "1600000000"}, {"until", "1600000060"}, {"by", "id"}};
  answer a;

  fixture_run("ALTER TABLE span RENAME TO hidden");
  a = get("/api/v1/spans", none, 2);
  check_has(&a, 200, "\"spans\":[],\"count\":0,\"rest\":0");
  answer_dispose(&a);
  a = get("/api/v1/spans", none_by_id, 3);
  check_has(&a, 200, "\"spans\":[],\"count\":0,\"rest\":0");
  answer_dispose(&a);
  a = get("/api/v1/spans", samples, 2);
  CHECK_EQUAL(503, a.response.status);
  answer_dispose(&a);
  fixture_run("ALTER TABLE hidden RENAME TO span");
  a = get("/api/v1/spans", samples, 2);
  check_has(&a, 200, "\"traced\":10");
  answer_dispose(&a);
}

static void an_error_has_a_column(void) {
  static const char *const query[][2] = {{"query", "{a=\"b\" c"}};
  static const char *const from[][2] = {{"from", "tomorrow"}};
  static const char *const format[][2] = {{"format", "svg"}};
  answer a = get("/api/v1/profile", query, 1);

  check_has(&a, 400, "\"column\":8");
  answer_dispose(&a);
  a = get("/api/v1/profile", from, 1);
  check_has(&a, 400, "from: Can't read \\\"tomorrow\\\". Try 2026-");
  answer_dispose(&a);
  a = get("/api/v1/profile", format, 1);
  check_has(&a, 400, "format must be one of");
  answer_dispose(&a);
}

static void an_error_of_a_comparison_names_the_side(void) {
  static const char *const query[][2] = {{"leftQuery", "{a=\"b\" c"}};
  static const char *const from[][2] = {{"rightFrom", "tomorrow"}};
  static const char *const types[][2] = {{"leftType", "inuse_space"}};
  answer a = get("/api/v1/diff", query, 1);

  check_has(&a, 400, "\"column\":8,\"side\":\"left\"}");
  answer_dispose(&a);
  a = get("/api/v1/diff", from, 1);
  check_has(&a, 400, "\"side\":\"right\"}");
  answer_dispose(&a);
  a = get("/api/v1/diff", types, 1);
  check_has(&a, 400, "the same profile type");
  CHECK(!strstr(a.text, "\"side\""));
  answer_dispose(&a);
}

static void merged_profiles_have_folded_and_compared_formats(void) {
  static const char *const folded[][2] = {{"from", FROM},
                                          {"until", UNTIL},
                                          {"span", "0000000000000006"},
                                          {"format", "folded"}};
  static const char *const sides[][2] = {{"leftFrom", FROM},
                                         {"leftUntil", UNTIL},
                                         {"rightFrom", FROM},
                                         {"rightUntil", UNTIL},
                                         {"rightSpan", "0000000000000006"}};
  answer a = get("/api/v1/profile", folded, 4);

  check_has(&a, 200, " 30000000\n");
  answer_dispose(&a);
  a = get("/api/v1/diff", sides, 5);
  check_has(&a, 200, "\"leftTicks\":1000000000,\"rightTicks\":30000000");
  answer_dispose(&a);
}

static void an_uploaded_file_is_stored_shown_and_compared(void) {
  static const char path[] = "/adhocprofiles.v1.AdHocProfileService/";
  char method[80], body[160], id[64];
  answer a;

  snprintf(method, sizeof method, "%sUpload", path);
  a = post(method, "application/json",
           "{\"name\":\"a b.txt\",\"profile\":\"bWFpbjthIDUK\"}");
  check_has(&a, 200, "-a_b.txt\",\"name\":\"a_b.txt\"");
  snprintf(id, sizeof id, "%.*s", 34, strstr(a.text, "\"id\":\"") + 6);
  answer_dispose(&a);
  snprintf(method, sizeof method, "%sGet", path);
  snprintf(body, sizeof body, "{\"id\":\"%s\"}", id);
  a = post(method, "application/json", body);
  check_has(&a, 200, "\\\"numTicks\\\":5");
  answer_dispose(&a);
  snprintf(method, sizeof method, "%sUpload", path);
  a = post(method, "application/json",
           "{\"name\":\"perf\",\"profile\":"
           "\"amF2YSAxMjY4OCBbMDAyXSA2NTQ0MDM4LjcwODM1MjogY3B1LWNsb2NrOgoJN2YxY"
           "SBsZWFmKzB4MSAoL2Jpbi94KQoJN2YxYiBtYWluICgvYmluL3gpCgpqYXZhIDEgMS41"
           "OiBjeWNsZXM6Cgk3ZjFiIG1haW4gKC9iaW4veCkK\"}");
  check_has(&a, 200,
            "[\\\"total\\\",\\\"java\\\",\\\"main\\\",\\\"leaf\\\"],"
            "\\\"levels\\\":[[0,1,0,0],[0,1,0,1],[0,1,0,2],[0,1,1,3]]");
  check_has(&a, 200, "\"profileTypes\":[\"cpu-clock\",\"cycles\"]");
  answer_dispose(&a);
  a = post(method, "application/json", "{\"name\":\"x\",\"profile\":\"%%\"}");
  check_has(&a, 400, "illegal base64");
  answer_dispose(&a);
}

#define SPANS_PROFILES 100
#define SPANS_EACH     1000

/* Most bytes of memory that a span may need in a list by name, and in a list by
 * id. */
#define SPANS_NAME_BYTES 36
#define SPANS_ID_BYTES   100

static size_t spans_memory(const char *by) {
  static const sp_mem counted = {.resize = counted_resize};
  const char *const parameters[][2] = {{"from", "1700059000"},
                                       {"until", "1700062000"},
                                       {"query", "many.cpu"},
                                       {"by", by},
                                       {"limit", "1"}};
  answer a;

  counted_bytes = counted_most = 0;
  calls_serve.mem = &counted;
  a = get("/api/v1/spans", parameters, 5);
  calls_serve.mem = &sp_mem_default;
  if (strcmp(by, "name") == 0)
    check_has(&a, 200, "\"spans\":100000,\"traced\":0}],\"count\":1,");
  else
    check_has(&a, 200, "\"spans\":1,\"traced\":0}],\"count\":100000,");
  answer_dispose(&a);
  return counted_most / (SPANS_PROFILES * SPANS_EACH);
}

static void a_span_needs_little_memory(void) {
  const sp_trace_id none = {0};
  int i, k;

  for (i = 0; i < SPANS_PROFILES; i++) {
    sp_received *profile =
        fixture_profile("many", FIXTURE_TIME + (60000 + i) * FIXTURE_SECOND);

    for (k = 0; k < SPANS_EACH; k++)
      fixture_sample(profile, "main", "GET /",
                     sp_hash_mix(SP_HASH_SEED, (uint64_t)(SPANS_EACH * i + k)),
                     none, 10000000);
    fixture_put(calls_store, profile);
  }
  CHECK(spans_memory("name") < SPANS_NAME_BYTES);
  CHECK(spans_memory("id") < SPANS_ID_BYTES);
}

/* More values than fit in a page of the calls that have pages. */
#define VALUES_COUNT 12000

static void classic_label_values_are_complete_or_refused(void) {
  static const char *const label[][2] = {{"label", "span_name"}};
  const sp_trace_id none = {0};
  sp_received *profile =
      fixture_profile("values", FIXTURE_TIME + 40000 * FIXTURE_SECOND);
  const char *at;
  char name[16];
  size_t count = 0;
  answer a;
  int i;

  for (i = 0; i < VALUES_COUNT; i++) {
    snprintf(name, sizeof name, "value %05d", i);
    fixture_sample(profile, "main", name, 0, none, 10000000);
  }
  fixture_put(calls_store, profile);
  a = get("/label-values", label, 1);
  check_has(&a, 200, "\"value 11998\",\"value 11999\"]");
  for (at = a.text; (at = strstr(at, "\"value ")); at++)
    count++;
  CHECK_EQUAL(VALUES_COUNT, count);
  answer_dispose(&a);
  /* Make a text that is larger than the limit for all texts of a selection. */
  fixture_run("UPDATE text SET text=hex(zeroblob(52000000)) WHERE "
              "text='value 11999'");
  a = get("/label-values", label, 1);
  fixture_run("UPDATE text SET text='value 11999' WHERE length(text)>1000000");
  check_has(&a, 429, "{\"code\":\"resource_exhausted\",\"message\":\"");
  check_has(&a, 429, "request a shorter range or fewer series");
  CHECK(!strstr(a.text, "value"));
  answer_dispose(&a);
}

/* The profile has more frames than fit in memory. Its functions have the same
 * name, so the frames become equal when lines are merged. This test is
 * the last one, because the profile remains in the store. */
static void a_query_with_too_many_stacks_is_folded(void) {
  static const char *const deep[][2] = {{"from", "1700050000"},
                                        {"until", "1700060000"},
                                        {"query", "deep.cpu"},
                                        {"format", "folded"}};
  static const char *const small[][2] = {
      {"from", FROM}, {"until", UNTIL}, {"format", "folded"}};
  sp_received *profile =
      fixture_profile("deep", FIXTURE_TIME + 50000 * FIXTURE_SECOND);
  answer a;

  fixture_deep_stacks(profile, 1000, 3000); /* 3 million frames */
  fixture_put(calls_store, profile);
  a = get("/api/v1/profile", deep, 4);
  check_has(&a, 200, ";f;f;f 3000\n");
  answer_dispose(&a);
  calls_are_limited = true;
  a = get("/api/v1/profile", deep, 4);
  CHECK(a.response.needs_large);
  answer_dispose(&a);
  a = get("/api/v1/profile", small, 3);
  check_has(&a, 200, "main;idle 700000000\n");
  CHECK(!a.response.needs_large);
  answer_dispose(&a);
  calls_are_limited = false;
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"a_query_of_a_stopping_server_is_refused",
       a_query_of_a_stopping_server_is_refused},
      {"own_calls_list_the_stored_data", own_calls_list_the_stored_data},
      {"an_empty_range_reports_the_nearest_data",
       an_empty_range_reports_the_nearest_data},
      {"a_trace_has_the_cpu_time_of_its_spans",
       a_trace_has_the_cpu_time_of_its_spans},
      {"span_names_have_quantiles_of_their_durations",
       span_names_have_quantiles_of_their_durations},
      {"spans_are_read_only_if_samples_can_have_them",
       spans_are_read_only_if_samples_can_have_them},
      {"an_error_has_a_column", an_error_has_a_column},
      {"an_error_of_a_comparison_names_the_side",
       an_error_of_a_comparison_names_the_side},
      {"merged_profiles_have_folded_and_compared_formats",
       merged_profiles_have_folded_and_compared_formats},
      {"an_uploaded_file_is_stored_shown_and_compared",
       an_uploaded_file_is_stored_shown_and_compared},
      {"a_profile_with_many_series_is_one_profile_for_gaps",
       a_profile_with_many_series_is_one_profile_for_gaps},
      {"a_span_needs_little_memory", a_span_needs_little_memory},
      {"classic_label_values_are_complete_or_refused",
       classic_label_values_are_complete_or_refused},
      {"a_query_with_too_many_stacks_is_folded",
       a_query_with_too_many_stacks_is_folded},
  };

  return calls_main(argc, argv, tests, SP_COUNT_OF(tests));
}
