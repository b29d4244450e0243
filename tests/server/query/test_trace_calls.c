/* The calls that list traces and find ids. */
#include "calls_fixture.h"

#define TRACE_ONE   "00000000000000010000000000000002"
#define TRACE_TWO   "00000000000000010000000000000003"
#define TRACE_LOOSE "00000000000000090000000000000009"

static void traces_put(void) {
  const sp_trace_id one = {.hi = 1, .lo = 2}, two = {.hi = 1, .lo = 3};
  const sp_store_span spans[] = {
      {.trace_id = one,
       .span_id = 100,
       .name = "GET /",
       .service = "shop",
       .start_ns = FIXTURE_TIME,
       .duration_ns = FIXTURE_SECOND,
       .attributes = "{\"user\":\"an \\\"x\\\"\"}"},
      {.trace_id = one,
       .span_id = 101,
       .parent_id = 100,
       .name = "query",
       .service = "db",
       .start_ns = FIXTURE_TIME + 1,
       .status = 2,
       .attributes = "{\"n\":5,\"resource\":{\"host\":\"h\"}}"},
      {.trace_id = two,
       .span_id = 102,
       .parent_id = 7777,
       .name = "late",
       .service = "jobs",
       .start_ns = FIXTURE_TIME + 50},
      {.trace_id = two,
       .span_id = 103,
       .parent_id = 7777,
       .name = "early",
       .service = "jobs",
       .start_ns = FIXTURE_TIME + 40},
      {.trace_id = {.hi = 1, .lo = 4},
       .span_id = 104,
       .name = "nightly",
       .service = "jobs",
       .start_ns = FIXTURE_TIME}};

  CHECK(!sp_store_put_spans(calls_store, spans, SP_COUNT_OF(spans)));
}

static void check_traces(const char *name, const char *value, int status,
                         const char *part) {
  const char *const parameters[][2] = {
      {"from", FROM}, {"until", UNTIL}, {name, value}};
  answer a = get("/api/v1/traces", parameters, 3);

  check_has(&a, status, part);
  answer_dispose(&a);
}

static void traces_are_filtered_and_counted(void) {
  static const char *const page[][2] = {
      {"from", FROM}, {"until", UNTIL}, {"limit", "1"}};
  answer a;

  traces_put();
  a = get("/api/v1/traces", page, 3);
  check_has(&a, 200, "\"count\":3,\"after\":\"1\"");
  check_has(&a, 200, "\"name\":\"early\",\"service\":\"jobs\"");
  check_has(&a, 200, "\"errors\":0,\"rootMissing\":true}");
  answer_dispose(&a);
  check_traces("service", "jobs", 200, "\"count\":2,\"after\":null");
  check_traces("name", "late", 200, "\"count\":0,\"after\":null");
  check_traces("status", "error", 200,
               "{\"traces\":[{\"traceId\":\"" TRACE_ONE);
  check_traces("status", "error", 200, "\"count\":1");
  check_traces("status", "error", 200,
               "\"status\":0,\"total\":0,\"samples\":0,\"errors\":1,"
               "\"rootMissing\":false}");
  check_traces("status", "ok", 400, "the only value of status is error");
  check_traces("attributes", "n=5 host=h", 200, "\"count\":1");
  check_traces("attributes", " n ", 200, "\"count\":1");
  check_traces("attributes", "n=6", 200, "{\"traces\":[],\"count\":0");
  check_traces("attributes", "user=\"an \\\"x\\\"\"", 200, "\"count\":1");
  check_traces("attributes", "n=5 user", 200, "\"count\":0");
  check_traces("attributes", "user=\"an", 400, "closing quote");
  check_traces("attributes", "=5", 400, "name is missing");
  check_traces("attributes", "a a a a a a a a a a a a a a a a a", 400,
               "more than 16");
}

static void root_spans_are_counted_by_service_and_name(void) {
  static const char *const range[][2] = {{"from", FROM}, {"until", UNTIL}};
  static const char *const page[][2] = {
      {"from", FROM}, {"until", UNTIL}, {"limit", "1"}, {"after", "2"}};
  static const char *const first[][2] = {
      {"from", FROM}, {"until", UNTIL}, {"limit", "1"}};
  answer a;

  traces_put();
  a = get("/api/v1/roots", range, 2);
  check_has(&a, 200,
            "{\"roots\":[{\"service\":\"jobs\",\"name\":\"early\","
            "\"traces\":1},{\"service\":\"jobs\",\"name\":\"nightly\","
            "\"traces\":1},{\"service\":\"shop\",\"name\":\"GET /\","
            "\"traces\":1}],\"after\":null}");
  answer_dispose(&a);
  a = get("/api/v1/roots", first, 3);
  check_has(&a, 200, "\"early\",\"traces\":1}],\"after\":\"1\"}");
  answer_dispose(&a);
  a = get("/api/v1/roots", page, 4);
  check_has(&a, 200, "{\"roots\":[{\"service\":\"shop\"");
  check_has(&a, 200, "\"after\":null");
  answer_dispose(&a);
}

static answer find(const char *span, const char *trace) {
  const char *const parameters[][2] = {
      {"from", FROM}, {"until", UNTIL}, {"span", span}, {"trace", trace}};

  return get("/api/v1/find", parameters, 4);
}

static void ids_are_found_in_traces_and_samples(void) {
  const sp_trace_id loose = {.hi = 9, .lo = 9};
  sp_received *profile =
      fixture_profile("shop", FIXTURE_TIME + 200 * FIXTURE_SECOND);
  answer a;

  fixture_sample(profile, "main", "loose", 900, loose, 5);
  fixture_put(calls_store, profile);
  traces_put();
  a = find("0000000000000065,0000000000000006,00000000000000ff", "");
  check_has(
      &a, 200,
      "{\"spans\":[{\"spanId\":\"0000000000000065\",\"traceId\":\"" TRACE_ONE
      "\",\"name\":\"query\",\"service\":\"db\","
      "\"startNs\":1700000000000000001,\"durationNs\":0,"
      "\"stored\":true}");
  check_has(&a, 200,
            "{\"spanId\":\"0000000000000006\",\"traceId\":null,\"name\":"
            "\"GET /\",\"service\":\"shop\",\"startNs\":1700000050000000000,");
  check_has(&a, 200, "\"stored\":false}],\"traces\":[]}");
  answer_dispose(&a);
  /* A trace without a stored root is found by its earliest span. */
  a = find("", TRACE_ONE "," TRACE_TWO "," TRACE_LOOSE);
  check_has(&a, 200,
            "{\"spans\":[],\"traces\":[{\"spanId\":"
            "\"0000000000000064\"");
  check_has(&a, 200,
            "{\"spanId\":\"0000000000000067\",\"traceId\":\"" TRACE_TWO);
  check_has(&a, 200,
            "{\"spanId\":null,\"traceId\":\"" TRACE_LOOSE
            "\",\"name\":\"loose\"");
  answer_dispose(&a);
  a = find("00000000000000ff", "000000000000000f000000000000000f");
  check_has(&a, 200, "{\"spans\":[],\"traces\":[]}");
  answer_dispose(&a);
  a = find("5", "");
  check_has(&a, 400, "span id");
  answer_dispose(&a);
}

/* The trace's second span has the id of a sampled span. */
static void a_trace_has_the_values_of_each_window(void) {
  static const char *const windows[][2] = {{"windows", "1"}};
  const sp_store_span spans[] = {{.trace_id = {.hi = 5, .lo = 5},
                                  .span_id = 300,
                                  .name = "GET /",
                                  .service = "shop",
                                  .start_ns = FIXTURE_TIME,
                                  .duration_ns = 60 * FIXTURE_SECOND},
                                 {.trace_id = {.hi = 5, .lo = 5},
                                  .span_id = 3,
                                  .parent_id = 300,
                                  .name = "work",
                                  .service = "shop",
                                  .start_ns = FIXTURE_TIME}};
  answer a;

  CHECK(!sp_store_put_spans(calls_store, spans, 2));
  a = get("/api/v1/trace/00000000000000050000000000000005", windows, 1);
  check_has(&a, 200,
            "\"windows\":[{\"spanId\":\"0000000000000003\",\"service\":"
            "\"shop\",\"threadName\":null,\"threadId\":null,\"startNs\":"
            "1700000020000000000,\"durationNs\":");
  check_has(&a, 200, "\"value\":30000000,\"samples\":3}]}");
  answer_dispose(&a);
  a = get("/api/v1/trace/00000000000000050000000000000005", NULL, 0);
  CHECK(!strstr(a.text, "windows"));
  answer_dispose(&a);
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"traces_are_filtered_and_counted", traces_are_filtered_and_counted},
      {"root_spans_are_counted_by_service_and_name",
       root_spans_are_counted_by_service_and_name},
      {"ids_are_found_in_traces_and_samples",
       ids_are_found_in_traces_and_samples},
      {"a_trace_has_the_values_of_each_window",
       a_trace_has_the_values_of_each_window},
  };

  return calls_main(argc, argv, tests, SP_COUNT_OF(tests));
}
