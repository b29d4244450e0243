#include "otlp_span_json.h"

#include "server/receive/otlp/otlp_json.h"

#define TRACE_END \
  { NULL, NULL, 0, SP_JSON_END, false, NULL }

/* What is kept alone; other fields are skipped, as OTLP/JSON wants of unknown
 * ones: https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding. */
/* OTLP/JSON has numbers; OpenTelemetry's collector takes the names, too. */
#define TRACE_NAME(name, number) \
  { name, NULL, number, SP_JSON_NUMBER, false, NULL }
static const sp_json_field trace_json_kinds[] = {
    TRACE_NAME("SPAN_KIND_UNSPECIFIED", 0),
    TRACE_NAME("SPAN_KIND_INTERNAL", 1),
    TRACE_NAME("SPAN_KIND_SERVER", 2),
    TRACE_NAME("SPAN_KIND_CLIENT", 3),
    TRACE_NAME("SPAN_KIND_PRODUCER", 4),
    TRACE_NAME("SPAN_KIND_CONSUMER", 5),
    TRACE_END};
static const sp_json_field trace_json_codes[] = {
    TRACE_NAME("STATUS_CODE_UNSET", 0), TRACE_NAME("STATUS_CODE_OK", 1),
    TRACE_NAME("STATUS_CODE_ERROR", 2), TRACE_END};

static const sp_json_field trace_json_status[] = {
    {"message", NULL, 2, SP_JSON_TEXT, false, NULL},
    {"code", NULL, 3, SP_JSON_NUMBER, false, trace_json_codes},
    TRACE_END};

static const sp_json_field trace_json_span[] = {
    {"traceId", "trace_id", 1, SP_JSON_HEX, false, NULL},
    {"spanId", "span_id", 2, SP_JSON_HEX, false, NULL},
    {"parentSpanId", "parent_span_id", 4, SP_JSON_HEX, false, NULL},
    {"name", NULL, 5, SP_JSON_TEXT, false, NULL},
    {"kind", NULL, 6, SP_JSON_NUMBER, false, trace_json_kinds},
    {"startTimeUnixNano", "start_time_unix_nano", 7, SP_JSON_FIXED64, false,
     NULL},
    {"endTimeUnixNano", "end_time_unix_nano", 8, SP_JSON_FIXED64, false, NULL},
    {"attributes", NULL, 9, SP_JSON_MESSAGE, true, sp_otlp_json_key_value},
    {"status", NULL, 15, SP_JSON_MESSAGE, false, trace_json_status},
    TRACE_END};

static const sp_json_field trace_json_scope_spans[] = {
    {"spans", NULL, 2, SP_JSON_MESSAGE, true, trace_json_span}, TRACE_END};

static const sp_json_field trace_json_resource_spans[] = {
    {"resource", NULL, 1, SP_JSON_MESSAGE, false, sp_otlp_json_resource},
    {"scopeSpans", "scope_spans", 2, SP_JSON_MESSAGE, true,
     trace_json_scope_spans},
    TRACE_END};

const sp_json_field sp_otlp_json_spans[] = {{"resourceSpans", "resource_spans",
                                             1, SP_JSON_MESSAGE, true,
                                             trace_json_resource_spans},
                                            TRACE_END};
