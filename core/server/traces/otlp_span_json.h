/* The JSON names of the fields of OTLP's traces. */
#ifndef SP_OTLP_SPAN_JSON_H
#define SP_OTLP_SPAN_JSON_H

#include "server/receive/wire/json_wire.h"

/* The fields of
 * opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest. */
extern const sp_json_field sp_otlp_json_spans[];

#endif
