/* Sends spans to a server as OTLP/HTTP in JSON
 * (https://opentelemetry.io/docs/specs/otlp/, 1.7), which is what a tracing
 * library would do. Where it cannot, spans are dropped and counted: the work
 * does not wait for it. */
#ifndef TRACE_SENDER_H
#define TRACE_SENDER_H

#include <stddef.h>
#include <stdint.h>

typedef struct trace_span {
  uint8_t trace_id[16];
  uint8_t span_id[8];
  const char *name; /* static */
  int64_t start_ns; /* of the clock, since 1970 */
  int64_t end_ns;
  char profile_id[17]; /* "": samples carry no id of it */
  char path[256];      /* an attribute: of the file */
} trace_span;

typedef struct trace_sender trace_sender;

/* To the server at `address` ("http://localhost:4040"), as `service`; both are
 * borrowed until the stop. NULL after a message. */
trace_sender *trace_sender_start(const char *address, const char *service);

/* Any thread. NULL sender: nothing. */
void trace_sender_add(trace_sender *sender, const trace_span *span);

/* Sends what is left, and says what was dropped. NULL is fine. */
void trace_sender_stop(trace_sender *sender);

#endif
