#include "unknown_path.h"

#include <string.h>
#include <strings.h>

#define UNKNOWN_GRPC                                                        \
  "this server accepts OpenTelemetry's data over HTTP, not over gRPC: set " \
  "OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf, or the Collector's exporter " \
  "otlphttp\n"

#define UNKNOWN_ACCEPTED                                                      \
  "it accepts traces at /v1/traces and profiles at /v1development/profiles, " \
  "/ingest and /push.v1.PusherService/Push\n"

const char *sp_http_unknown_path(const sp_http_request *request) {
  static const struct {
    const char *prefix;
    const char *sentence;
  } others[] = {
      {"/opentelemetry.proto.collector.", UNKNOWN_GRPC},
      {"/v1/metrics", "this server does not accept metrics: " UNKNOWN_ACCEPTED},
      {"/v1/logs", "this server does not accept logs: " UNKNOWN_ACCEPTED},
      {"/v1/profiles", "OTLP profiles are accepted at /v1development/profiles, "
                       "as long as their "
                       "protocol is in development\n"},
      {"/profiling/v1/input",
       "this server does not accept Datadog's profiles: " UNKNOWN_ACCEPTED},
      {"/api/v2/spans",
       "this server does not accept Zipkin's spans: " UNKNOWN_ACCEPTED},
      {"/api/traces",
       "this server does not accept Jaeger's spans: " UNKNOWN_ACCEPTED},
  };
  const char *type = sp_http_header(request, "Content-Type");
  size_t i;

  if (strcmp(request->method, "POST") != 0 &&
      strcmp(request->method, "PUT") != 0)
    return NULL;
  for (i = 0; i < SP_COUNT_OF(others); i++)
    if (strncmp(request->path, others[i].prefix, strlen(others[i].prefix)) == 0)
      return others[i].sentence;
  return type && strncasecmp(type, "application/grpc", 16) == 0 ? UNKNOWN_GRPC
                                                                : NULL;
}
