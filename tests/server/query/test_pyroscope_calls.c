/* Pyroscope's calls and classic queries: responses and error messages. */
#include "calls_fixture.h"

static void connect_calls_respond_in_json(void) {
  answer a = post(QUERIER "LabelValues", "application/json",
                  "{" RANGE ",\"name\":\"service_name\"}");

  check_has(&a, 200, "{\"names\":[\"shop\"]}");
  answer_dispose(&a);
  a = post(QUERIER "SelectMergeStacktraces", "application/json",
           "{" SELECT ",\"labelSelector\":\"{}\"}");
  check_has(&a, 200, "\"total\":\"1000000000\"");
  answer_dispose(&a);
  a = post(QUERIER "SelectMergeStacktraces", "application/json",
           "{" SELECT ",\"labelSelector\":\"{x\"}");
  check_has(&a, 400,
            "\"message\":\"parsing label selector \\\"{x\\\": 1:3: parse "
            "error: unexpected end of input inside braces\"");
  answer_dispose(&a);
  a = post(QUERIER "LabelNames", "text/plain", "{}");
  CHECK_EQUAL(415, a.response.status);
  answer_dispose(&a);
}

#define HEATMAP_EMPTY                              \
  "\"start\":1699999000000,\"end\":1699999000000," \
  "\"profileTypeID\":\"" FIXTURE_TYPE "\""

/* If a request has several errors, the one that Pyroscope checks first is
 * reported. */
static void a_heatmap_request_is_checked_in_order(void) {
  static const char *const cases[][2] = {
      {SELECT ",\"limit\":-1", "step must be >= 1ms, got 0.000000"},
      {HEATMAP_EMPTY ",\"step\":60,\"limit\":-1",
       "limit must be non-negative, got -1"},
      {SELECT ",\"step\":60,\"limit\":\"-1\"",
       "limit must be non-negative, got -1"},
      {HEATMAP_EMPTY ",\"step\":60",
       "start time must be before end time, got start=1699999000000 "
       "end=1699999000000"},
      {SELECT ",\"step\":60,\"limit\":0",
       "valid heatmap query type must be specified"},
  };
  char body[512];
  size_t i;

  for (i = 0; i < SP_COUNT_OF(cases); i++) {
    answer a;

    snprintf(body, sizeof body, "{%s,\"labelSelector\":\"{}\"}", cases[i][0]);
    a = post(QUERIER "SelectHeatmap", "application/json", body);
    check_has(&a, 400, cases[i][1]);
    answer_dispose(&a);
  }
}

#define MERGED_TIME (FIXTURE_TIME + 50000 * FIXTURE_SECOND)

/* Store a profile that has one sample, with the type of this metric. */
static void merged_put(const char *metric) {
  const sp_trace_id none = {0};
  sp_received *profile =
      fixture_profile_of(metric, "v", "count", metric, MERGED_TIME);

  fixture_sample(profile, "main", NULL, 0, none, 7);
  fixture_put(calls_store, profile);
}

static void merged_profiles_have_the_period_of_their_metric(void) {
  static const char *const cases[][2] = {
      {"process_cpu", "1000000000"}, {"memory", "524288"}, {"mutex", "1"}};
  char body[512], period[64];
  size_t i;

  for (i = 0; i < SP_COUNT_OF(cases); i++) {
    answer a;

    merged_put(cases[i][0]);
    snprintf(body, sizeof body,
             "{\"start\":1700049000000,\"end\":1700051000000,"
             "\"profileTypeID\":\"%s:v:count:v:count\","
             "\"labelSelector\":\"{service_name=\\\"%s\\\"}\"}",
             cases[i][0], cases[i][0]);
    a = post(QUERIER "SelectMergeProfile", "application/json", body);
    snprintf(period, sizeof period, "\"period\":\"%s\"", cases[i][1]);
    check_has(&a, 200, period);
    answer_dispose(&a);
  }
}

/* In the calls that list labels, this error message has a prefix that it does
 * not have in the call Series. */
static void an_error_in_a_matcher_begins_like_pyroscopes(void) {
  static const char *const cases[][2] = {
      {"Series", ""},
      {"LabelNames", "parsing label selector: "},
      {"LabelValues", "parsing label selector: "}};
  char path[64], message[256];
  size_t i;

  for (i = 0; i < SP_COUNT_OF(cases); i++) {
    answer a;

    snprintf(path, sizeof path, QUERIER "%s", cases[i][0]);
    snprintf(message, sizeof message,
             "\"message\":\"%sfailed to parse label selector \\\"{x\\\": 1:3: "
             "parse error: unexpected end of input inside braces\"",
             cases[i][1]);
    a = post(path, "application/json",
             "{" RANGE ",\"name\":\"service_name\",\"matchers\":[\"{x\"]}");
    check_has(&a, 400, message);
    answer_dispose(&a);
    a = post(path, "application/json", "{\"name\":\"service_name\"}");
    check_has(&a, 400, "\"message\":\"missing time range in the query\"");
    answer_dispose(&a);
  }
}

static void every_selector_accepts_span_ids(void) {
  static const char *const selectors[] = {
      "{profile_id=\\\"0000000000000006\\\"}",
      "{span_id=~\\\"0+6\\\"}",
      "shop.cpu{profile_id=\\\"0000000000000006\\\"}",
  };
  char body[512];
  size_t i;

  for (i = 0; i < SP_COUNT_OF(selectors); i++) {
    answer a;

    snprintf(body, sizeof body, "{" SELECT ",\"labelSelector\":\"%s\"}",
             selectors[i]);
    a = post(QUERIER "SelectMergeStacktraces", "application/json", body);
    check_has(&a, 200, "\"total\":\"30000000\"");
    answer_dispose(&a);
  }
}

static void classic_render_takes_classic_queries(void) {
  static const char *const parameters[][2] = {
      {"query", "shop.cpu{}"}, {"from", FROM}, {"until", UNTIL}};
  static const char *const bad[][2] = {{"query", "process_cpu{}"}};
  answer a = get("/render", parameters, 3);

  check_has(&a, 200, "\"numTicks\":1000000000");
  answer_dispose(&a);
  a = get("/render", bad, 1);
  check_has(&a, 400, "failed to parse \\\"query\\\"");
  answer_dispose(&a);
}

static void check_renamed(const char *query, const char *part) {
  const char *const parameters[][2] = {{"query", query},
                                       {"from", "1700049000"},
                                       {"until", "1700051000"},
                                       {"format", "folded"}};
  answer a = get("/api/v1/profile", parameters, 4);

  check_has(&a, 200, part);
  CHECK_EQUAL(strlen(part), strlen(a.text));
  answer_dispose(&a);
}

/* Older versions of clients and of the scraper called the metric of goroutines
 * "goroutines". */
static void a_type_is_found_by_its_former_metric_name(void) {
  static const char *const metrics[] = {"goroutine", "goroutines"};
  const sp_trace_id none = {0};
  size_t i;

  for (i = 0; i < SP_COUNT_OF(metrics); i++) {
    sp_received *profile = fixture_profile_of(metrics[i], "goroutine", "count",
                                              "renamed", MERGED_TIME);

    fixture_sample(profile, metrics[i], NULL, 0, none, 3);
    fixture_put(calls_store, profile);
  }
  check_renamed("renamed.goroutines", "goroutine 3\ngoroutines 3\n");
  check_renamed("goroutine:goroutine:count:goroutine:count"
                "{service_name=\"renamed\"}",
                "goroutine 3\ngoroutines 3\n");
  check_renamed("goroutines:goroutine:count:goroutine:count"
                "{service_name=\"renamed\"}",
                "goroutines 3\n");
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"connect_calls_respond_in_json", connect_calls_respond_in_json},
      {"a_heatmap_request_is_checked_in_order",
       a_heatmap_request_is_checked_in_order},
      {"merged_profiles_have_the_period_of_their_metric",
       merged_profiles_have_the_period_of_their_metric},
      {"an_error_in_a_matcher_begins_like_pyroscopes",
       an_error_in_a_matcher_begins_like_pyroscopes},
      {"every_selector_accepts_span_ids", every_selector_accepts_span_ids},
      {"classic_render_takes_classic_queries",
       classic_render_takes_classic_queries},
      {"a_type_is_found_by_its_former_metric_name",
       a_type_is_found_by_its_former_metric_name},
  };

  return calls_main(argc, argv, tests, SP_COUNT_OF(tests));
}
