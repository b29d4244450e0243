/* Reads requests with OTLP traces: JSON if the input begins with a brace,
 * otherwise protobuf. The texts to store must be NUL-terminated, and the JSON
 * to store must be valid. */
#include <jansson.h>
#include <stdlib.h>

#include "server/traces/otlp_span_json.h"
#include "server/traces/otlp_spans.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look_at(const sp_otlp_spans *spans) {
  size_t i;

  for (i = 0; i < spans->count; i++) {
    const sp_store_span *span = &spans->spans[i];
    json_t *attributes = json_loads(span->attributes, JSON_ALLOW_NUL, NULL);

    if (!attributes || !span->span_id || !span->name || !span->service ||
        span->duration_ns < 0)
      abort();
    json_decref(attributes);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const sp_json_rules rules = {.refuse_unknown = false};
  sp_view request = sp_view_of(data, size);
  spanprof_status st = SPANPROF_OK;
  sp_otlp_spans spans;
  sp_refusal refusal;
  sp_buffer wire;

  sp_refusal_init(&refusal, &sp_mem_default);
  sp_buffer_init(&wire, &sp_mem_default);
  sp_otlp_spans_init(&spans, &sp_mem_default);
  if (size && data[0] == '{') {
    st = sp_json_wire(request, sp_otlp_json_spans, &rules, &wire, &refusal);
    request = sp_view_of(wire.data, wire.size);
  }
  if (!st)
    st = sp_otlp_spans_read(&spans, request, &refusal);
  if ((st == SPANPROF_ERR_FORMAT) != (refusal.kind != SP_REFUSAL_NONE))
    abort();
  if (!st)
    look_at(&spans);
  sp_otlp_spans_dispose(&spans);
  sp_buffer_dispose(&wire);
  sp_refusal_dispose(&refusal);
  return 0;
}
