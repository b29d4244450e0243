/* Sends spans to a server as OTLP/HTTP in JSON
 * (https://opentelemetry.io/docs/specs/otlp/, 1.7), as a tracing library would.
 * Spans that cannot be sent are dropped and counted, so that the work never
 * waits. */
#ifndef TRACE_SENDER_H
#define TRACE_SENDER_H

#include <stddef.h>
#include <stdint.h>

typedef struct trace_span {
  uint8_t trace_id[16];
  uint8_t span_id[8];
  const char *name; /* static */
  int64_t start_ns; /* wall clock: ns since 1970 */
  int64_t end_ns;
  char profile_id[17]; /* "": the span has no samples */
  char path[256];      /* path of the file, an attribute of the span */
} trace_span;

typedef struct trace_sender trace_sender;

/* Start to send spans to the server at `address` ("http://localhost:4040"),
 * with the service name `service`. Both strings must stay valid until
 * trace_sender_stop(). If it fails, prints a message and returns NULL. */
trace_sender *trace_sender_start(const char *address, const char *service);

/* Add a span to the next request. Any thread may call this. Does nothing if
 * `sender` is NULL. */
void trace_sender_add(trace_sender *sender, const trace_span *span);

/* Send the remaining spans and print the number of dropped ones. `sender` may
 * be NULL. */
void trace_sender_stop(trace_sender *sender);

#endif
