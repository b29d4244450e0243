#include "otlp_span_json.h"

#include "server/receive/otlp/otlp_json.h"

/* The fields that are stored. Other fields are skipped, as OTLP/JSON requires
 * for unknown fields:
 * https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding. Enums are
 * numbers in OTLP/JSON; OpenTelemetry's collector also accepts their names. */
static const sp_json_field trace_json_kinds[] = {
    SP_JSON_VALUE("SPAN_KIND_UNSPECIFIED", 0),
    SP_JSON_VALUE("SPAN_KIND_INTERNAL", 1),
    SP_JSON_VALUE("SPAN_KIND_SERVER", 2),
    SP_JSON_VALUE("SPAN_KIND_CLIENT", 3),
    SP_JSON_VALUE("SPAN_KIND_PRODUCER", 4),
    SP_JSON_VALUE("SPAN_KIND_CONSUMER", 5),
    SP_JSON_LAST};
static const sp_json_field trace_json_codes[] = {
    SP_JSON_VALUE("STATUS_CODE_UNSET", 0), SP_JSON_VALUE("STATUS_CODE_OK", 1),
    SP_JSON_VALUE("STATUS_CODE_ERROR", 2), SP_JSON_LAST};

static const sp_json_field trace_json_status[] = {
    SP_JSON_ONE("message", 2, SP_JSON_TEXT),
    SP_JSON_ENUM("code", 3, trace_json_codes), SP_JSON_LAST};

static const sp_json_field trace_json_span[] = {
    SP_JSON_ONE("traceId", 1, SP_JSON_HEX),
    SP_JSON_ONE("spanId", 2, SP_JSON_HEX),
    SP_JSON_ONE("parentSpanId", 4, SP_JSON_HEX),
    SP_JSON_ONE("name", 5, SP_JSON_TEXT),
    SP_JSON_ENUM("kind", 6, trace_json_kinds),
    SP_JSON_ONE("startTimeUnixNano", 7, SP_JSON_FIXED64),
    SP_JSON_ONE("endTimeUnixNano", 8, SP_JSON_FIXED64),
    SP_JSON_LIST("attributes", 9, sp_otlp_json_key_value),
    SP_JSON_INSIDE("status", 15, trace_json_status),
    SP_JSON_LAST};

static const sp_json_field trace_json_scope_spans[] = {
    SP_JSON_LIST("spans", 2, trace_json_span), SP_JSON_LAST};

static const sp_json_field trace_json_resource_spans[] = {
    SP_JSON_INSIDE("resource", 1, sp_otlp_json_resource),
    SP_JSON_LIST("scopeSpans", 2, trace_json_scope_spans), SP_JSON_LAST};

const sp_json_field sp_otlp_json_spans[] = {
    SP_JSON_LIST("resourceSpans", 1, trace_json_resource_spans), SP_JSON_LAST};
