#include "traces.h"

#include <inttypes.h>

#include "otlp_span_json.h"
#include "otlp_spans.h"
#include "server/query/wire/json_writer.h"
#include "server/receive/profile/batch.h"
#include "server/receive/profile/upload_memory.h"
#include "server/receive/wire/unpack.h"

#define TRACES_BYTES_MAX    ((size_t)16 << 20)
#define TRACES_CODE_INVALID 3 /* INVALID_ARGUMENT of google.rpc.Code */
#define TRACES_CODE_LARGE   8
#define TRACES_CODE_LATER   14

/* The state of a request. The answer has the encoding of the request:
 * https://opentelemetry.io/docs/specs/otlp/#otlphttp-response. */
typedef struct traces_call {
  sp_serve *serve;
  sp_upload upload;
  bool is_json;
  sp_http_response *response;
} traces_call;

/* Append the fields of a protobuf message that has a number in field 1 and a
 * text in field 2. */
static void traces_message(sp_buffer *out, uint64_t number, const char *text) {
  sp_wire_put_tag(out, 1, SP_WIRE_NUMBER);
  sp_varint_append(out, number);
  sp_wire_put_bytes(out, 2, text, strlen(text));
}

static const char *traces_type(const traces_call *call) {
  return call->is_json ? "application/json" : "application/x-protobuf";
}

/* Answer with a google.rpc.Status. */
static void traces_error(const traces_call *call, int status, int code,
                         const char *text) {
  sp_buffer *body = &call->response->body;
  sp_json json;

  sp_http_answer(call->response, status, traces_type(call), "");
  sp_refusal_log(call->serve, "/v1/traces", text);
  if (!call->is_json) {
    traces_message(body, (uint64_t)code, text);
    return;
  }
  json = sp_json_of(body);
  sp_json_open(&json, '{');
  sp_json_member_int(&json, "code", code);
  sp_json_member_text(&json, "message", text);
  sp_json_close(&json, '}');
}

static void traces_refuse(const traces_call *call, const sp_refusal *refusal,
                          spanprof_status st) {
  if (refusal->kind == SP_REFUSAL_LARGE)
    traces_error(call, 413, TRACES_CODE_LARGE, sp_refusal_text(refusal));
  else if (refusal->kind == SP_REFUSAL_STORE)
    traces_error(call, 503, TRACES_CODE_LATER, sp_refusal_text(refusal));
  else if (refusal->kind != SP_REFUSAL_NONE)
    traces_error(call, 400, TRACES_CODE_INVALID, sp_refusal_text(refusal));
  else
    traces_error(call, 503, TRACES_CODE_LATER,
                 st == SPANPROF_ERR_IO || st == SPANPROF_ERR_LIMIT
                     ? spanprof_last_error()
                     : spanprof_status_text(st));
}

/* Answer with an ExportTraceServiceResponse that has the number of rejected
 * spans. */
static void traces_done(const traces_call *call, size_t rejected) {
  static const char why[] =
      "spans without a trace id, a span id or a time, or outside of the "
      "ingestion window (--ingest-window)";
  sp_buffer *body = &call->response->body;
  sp_buffer partial;

  sp_http_answer(call->response, 200, traces_type(call), "");
  if (call->is_json && rejected) {
    sp_buffer_format(body,
                     "{\"partialSuccess\":{\"rejectedSpans\":\"%zu\","
                     "\"errorMessage\":\"%s\"}}",
                     rejected, why);
  } else if (call->is_json) {
    sp_buffer_text(body, "{}");
  } else if (rejected) {
    sp_buffer_init(&partial, call->serve->mem);
    traces_message(&partial, rejected, why);
    sp_wire_put_bytes(body, 1, partial.data, partial.size);
    sp_buffer_dispose(&partial);
  }
}

static bool traces_fault(const traces_call *call,
                         const sp_http_request *request) {
  switch (request->fault) {
  case SP_HTTP_FAULT_NONE:
    return false;
  case SP_HTTP_FAULT_CUT:
    traces_error(call, 400, TRACES_CODE_INVALID, "the body was cut off");
    return true;
  case SP_HTTP_FAULT_TOO_LARGE:
    traces_error(call, 413, TRACES_CODE_LARGE,
                 "the body is larger than 16 MiB");
    return true;
  case SP_HTTP_FAULT_BUSY:
    break;
  }
  traces_error(call, 503, TRACES_CODE_LATER,
               "too many uploads are under way, try again");
  return true;
}

static bool traces_body(const traces_call *call, const sp_http_request *request,
                        sp_buffer *unpacked, sp_view *out) {
  const sp_unpack_encoding encoding = sp_unpack_encoding_of(request);
  sp_unpack_end end = SP_UNPACK_WHOLE;

  *out = sp_view_of(request->body, request->body_size);
  if (traces_fault(call, request))
    return false;
  if (encoding == SP_UNPACK_OTHER)
    traces_error(call, 415, TRACES_CODE_INVALID, SP_UNPACK_UNSUPPORTED);
  if (encoding != SP_UNPACK_GZIP)
    return encoding == SP_UNPACK_IDENTITY;
  if (sp_unpack_gzip(*out, unpacked, TRACES_BYTES_MAX, &end)) {
    traces_error(call, 503, TRACES_CODE_LATER, "out of memory");
    return false;
  }
  *out = sp_view_of(unpacked->data, unpacked->size);
  if (end == SP_UNPACK_LARGE)
    traces_error(call, 413, TRACES_CODE_LARGE,
                 "the body unpacks to more than 16 MiB");
  else if (end != SP_UNPACK_WHOLE)
    traces_error(call, 400, TRACES_CODE_INVALID,
                 "the body is damaged or incomplete gzip data");
  return end == SP_UNPACK_WHOLE;
}

static void traces_receive(traces_call *call, sp_view body) {
  const sp_json_rules rules = {.refuse_unknown = false};
  const sp_raw_window window = sp_batch_window(call->serve);
  spanprof_status st = SPANPROF_OK;
  sp_otlp_spans spans;
  sp_refusal refusal;
  sp_buffer wire;

  sp_buffer_init(&wire, &call->upload.mem);
  sp_refusal_init(&refusal, &sp_mem_default);
  sp_otlp_spans_init(&spans, &call->upload.mem);
  spans.from_ns = window.from_ns;
  spans.until_ns = window.until_ns;
  sp_upload_enter(&call->upload);
  if (call->is_json) {
    st = sp_json_wire(body, sp_otlp_json_spans, &rules, &wire, &refusal);
    body = sp_view_of(wire.data, wire.size);
  }
  if (!st)
    st = sp_otlp_spans_read(&spans, body, &refusal);
  sp_upload_leave(&call->upload);
  sp_upload_release_if_small(&call->upload);
  if (!st && spans.count)
    st = sp_store_put_spans(call->serve->store, spans.spans, spans.count);
  st = sp_upload_explain(&call->upload, &refusal, st);
  if (st) {
    traces_refuse(call, &refusal, st);
  } else {
    sp_count(&call->serve->counters.spans, spans.count);
    sp_count(&call->serve->counters.discarded_spans, spans.rejected);
    traces_done(call, spans.rejected);
  }
  sp_otlp_spans_dispose(&spans);
  sp_refusal_dispose(&refusal);
  sp_buffer_dispose(&wire);
}

static void traces_handle(void *data, const sp_http_request *request,
                          sp_http_response *response) {
  const char *type = sp_http_header(request, "Content-Type");
  traces_call call = {.serve = data, .response = response};
  sp_buffer unpacked;
  sp_view body;

  call.is_json = sp_http_is_type(type, "application/json");
  if (!call.is_json && !sp_http_is_type(type, "application/x-protobuf")) {
    traces_error(&call, 415, TRACES_CODE_INVALID,
                 "Content-Type is neither application/x-protobuf nor "
                 "application/json");
    return;
  }
  sp_upload_begin(&call.upload, data);
  sp_buffer_init(&unpacked, &call.upload.mem);
  if (traces_body(&call, request, &unpacked, &body))
    traces_receive(&call, body);
  sp_buffer_dispose(&unpacked);
  sp_upload_end(&call.upload);
}

spanprof_status sp_traces_routes(sp_http_routes *routes, sp_serve *serve) {
  const sp_http_route route = {.methods = "POST",
                               .path = "/v1/traces",
                               .handler = traces_handle,
                               .data = serve,
                               .flags = SP_HTTP_CHANGES,
                               .body_max = TRACES_BYTES_MAX};

  return sp_http_routes_add(routes, &route);
}
