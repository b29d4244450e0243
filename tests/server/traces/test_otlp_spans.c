/* The spans of an OTLP traces request. */
#include "message.h"
#include "server/receive/wire/json_wire.h"
#include "server/traces/otlp_span_json.h"
#include "server/traces/otlp_spans.h"

static const char request_json[] =
    "{\"resourceSpans\":[{\"resource\":{\"attributes\":[{\"key\":"
    "\"service.name\",\"value\":{\"stringValue\":\"shop\"}}]},"
    "\"scopeSpans\":[{\"scope\":{\"name\":\"x\"},\"spans\":[{"
    "\"traceId\":\"5B8efff798038103d269b633813fc60c\","
    "\"spanId\":\"eee19b7ec3c1b174\",\"parentSpanId\":\"eee19b7ec3c1b173\","
    "\"name\":\"checkout\",\"kind\":2,"
    "\"startTimeUnixNano\":\"1544712660000000000\","
    "\"endTimeUnixNano\":\"1544712661000000000\","
    "\"status\":{\"code\":2,\"message\":\"bad\"},\"attributes\":["
    "{\"key\":\"i\",\"value\":{\"intValue\":\"9223372036854775807\"}},"
    "{\"key\":\"j\",\"value\":{\"intValue\":\"-9007199254740991\"}},"
    "{\"key\":\"k\",\"value\":{\"intValue\":\"-9007199254740992\"}},"
    "{\"key\":\"a\",\"value\":{\"arrayValue\":{\"values\":["
    "{\"boolValue\":true},{\"doubleValue\":1.5}]}}},"
    "{\"key\":\"resource\",\"value\":{\"stringValue\":\"gives way\"}}],"
    "\"events\":[{\"name\":\"unknown here\"}]},"
    "{\"traceId\":\"5B8efff798038103d269b633813fc60c\","
    "\"spanId\":\"eee19b7ec3c1b175\",\"kind\":\"SPAN_KIND_CLIENT\","
    "\"startTimeUnixNano\":\"1\",\"status\":{\"code\":\"STATUS_CODE_ERROR\"}},"
    "{\"traceId\":\"5B8efff798038103d269b633813fc60c\","
    "\"spanId\":\"eee19b7ec3c1b176\",\"endTimeUnixNano\":\"5\"},"
    "{\"traceId\":\"00\",\"spanId\":\"eee19b7ec3c1b174\","
    "\"startTimeUnixNano\":\"1\"}]}]}]}";

static sp_buffer request_bytes(void) {
  const sp_json_rules rules = {.refuse_unknown = false};
  sp_refusal refusal;
  sp_buffer wire;

  sp_buffer_init(&wire, &sp_mem_default);
  sp_refusal_init(&refusal, &sp_mem_default);
  CHECK(!sp_json_wire(sp_view_text(request_json), sp_otlp_json_spans, &rules,
                      &wire, &refusal));
  sp_refusal_dispose(&refusal);
  return wire;
}

static spanprof_status read_spans(sp_otlp_spans *spans, sp_view bytes) {
  sp_refusal refusal;
  spanprof_status st;

  sp_refusal_init(&refusal, &sp_mem_default);
  sp_otlp_spans_init(spans, &sp_mem_default);
  st = sp_otlp_spans_read(spans, bytes, &refusal);
  CHECK_EQUAL(st != SPANPROF_OK, refusal.kind != SP_REFUSAL_NONE);
  sp_refusal_dispose(&refusal);
  return st;
}

static void spans_have_all_displayed_fields(void) {
  sp_buffer wire = request_bytes();
  sp_otlp_spans spans;
  const sp_store_span *span;

  CHECK(!read_spans(&spans, sp_view_of(wire.data, wire.size)));
  CHECK_EQUAL(spans.count, 2);
  CHECK_EQUAL(spans.rejected, 2); /* one span has no time, and one has no id */
  CHECK_EQUAL(spans.spans[1].kind, 3);
  CHECK_EQUAL(spans.spans[1].status, 2);
  span = &spans.spans[0];
  CHECK(span->trace_id.hi == UINT64_C(0x5b8efff798038103));
  CHECK(span->trace_id.lo == UINT64_C(0xd269b633813fc60c));
  CHECK(span->span_id == UINT64_C(0xeee19b7ec3c1b174));
  CHECK(span->parent_id == UINT64_C(0xeee19b7ec3c1b173));
  CHECK_TEXT(span->name, "checkout");
  CHECK_TEXT(span->service, "shop");
  CHECK_EQUAL(span->start_ns, INT64_C(1544712660000000000));
  CHECK_EQUAL(span->duration_ns, 1000000000);
  CHECK_EQUAL(span->kind, 2);
  CHECK_EQUAL(span->status, 2);
  CHECK_TEXT(span->status_message, "bad");
  CHECK_TEXT(span->attributes,
             "{\"i\":\"9223372036854775807\",\"j\":-9007199254740991,"
             "\"k\":\"-9007199254740992\",\"a\":[true,1.5],"
             "\"resource\":{\"service.name\":\"shop\"}}");
  sp_otlp_spans_dispose(&spans);
  sp_buffer_dispose(&wire);
}

static void spans_outside_of_the_window_are_rejected(void) {
  const int64_t end = INT64_C(1544712661000000000);
  sp_buffer wire = request_bytes();
  sp_view bytes = sp_view_of(wire.data, wire.size);
  sp_otlp_spans spans;
  sp_refusal refusal;
  int64_t off;

  /* The offsets from the end of the first span are -1, 0 and 1 ns. At each
   * offset, one range of allowed times begins, and then another one ends. The
   * second span is one nanosecond long and in 1970. */
  for (off = -1; off <= 1; off++) {
    sp_refusal_init(&refusal, &sp_mem_default);
    sp_otlp_spans_init(&spans, &sp_mem_default);
    spans.from_ns = end + off;
    CHECK(!sp_otlp_spans_read(&spans, bytes, &refusal));
    CHECK_EQUAL(off <= 0, spans.count);
    sp_otlp_spans_dispose(&spans);
    sp_otlp_spans_init(&spans, &sp_mem_default);
    spans.until_ns = end + off;
    CHECK(!sp_otlp_spans_read(&spans, bytes, &refusal));
    CHECK_EQUAL(off >= 0 ? 2 : 1, spans.count);
    CHECK_EQUAL(4, spans.count + spans.rejected);
    sp_otlp_spans_dispose(&spans);
    sp_refusal_dispose(&refusal);
  }
  sp_buffer_dispose(&wire);
}

static void a_truncated_request_does_not_crash(void) {
  sp_buffer wire = request_bytes();
  sp_otlp_spans spans;
  size_t size;

  for (size = 0; size < wire.size; size++) {
    char *copy = malloc(size + 1);

    memcpy(copy, wire.data, size);
    read_spans(&spans, sp_view_of(copy, size));
    sp_otlp_spans_dispose(&spans);
    free(copy);
  }
  sp_buffer_dispose(&wire);
}

/* Put `value` into `depth` nested lists. Frees `value`. */
static message value_in(message value, size_t depth) {
  while (depth--) {
    message list = message_new(), outer = message_new();

    message_inner(&list, 1, value);
    message_inner(&outer, 5, list);
    value = outer;
  }
  return value;
}

static void odd_values_give_valid_json(void) {
  message m = message_new(), resource_spans = message_new(),
          scope = message_new(), span = message_new(), pair = message_new(),
          value = message_new();
  sp_otlp_spans spans;

  message_bytes(&span, 1, "0123456789abcdef", 16);
  message_bytes(&span, 2, "01234567", 8);
  message_fixed(&span, 7, 1);
  message_text(&span, 5,
               "a\xff"
               "b");
  message_bytes(&value, 1, "\xff\"\0", 3);
  message_bytes(&pair, 1, "k\0", 2);
  message_inner(&pair, 2, value_in(value, 100));
  message_inner(&span, 9, pair);
  message_inner(&scope, 2, span);
  message_inner(&resource_spans, 2, scope);
  message_inner(&m, 1, resource_spans);
  CHECK(!read_spans(&spans, message_view(&m)));
  CHECK_EQUAL(spans.count, 1);
  CHECK_TEXT(spans.spans[0].name, "a?b");
  CHECK_TEXT(spans.spans[0].service, "unknown_service");
  CHECK_TEXT(spans.spans[0].attributes,
             "{\"k?\":[[[[[[[[[null]]]]]]]]],\"resource\":{}}");
  sp_otlp_spans_dispose(&spans);
  message_free(&m);
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"spans_have_all_displayed_fields", spans_have_all_displayed_fields},
      {"spans_outside_of_the_window_are_rejected",
       spans_outside_of_the_window_are_rejected},
      {"a_truncated_request_does_not_crash",
       a_truncated_request_does_not_crash},
      {"odd_values_give_valid_json", odd_values_give_valid_json},
  };

  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
