/* The parts of a unary call of the Connect protocol other than the message:
 * codec, compression, version and timeout of a request, and the form of an
 * error: https://connectrpc.com/docs/protocol. The calls for uploads and for
 * queries share them. */
#ifndef SP_CONNECT_ENVELOPE_H
#define SP_CONNECT_ENVELOPE_H

#include "http.h"

typedef struct sp_connect_envelope {
  const char *type; /* media type of the answer */
  bool is_json;     /* false: protobuf */
  bool is_gzip;     /* the body is compressed */
  bool has_timeout;
  uint64_t timeout_ms;
  /* The error, or NULL. */
  const char *code;
  char message[512];
} sp_connect_envelope;

/* Read the codec. Returns false for another media type; the request is not
 * answered then. */
bool sp_connect_envelope_type(sp_connect_envelope *envelope,
                              const sp_http_request *request);

/* Read the other headers, and check the fault of the body. Returns false if
 * code and message are set. */
bool sp_connect_envelope_read(sp_connect_envelope *envelope,
                              const sp_http_request *request);

/* Returns the HTTP status of an error code:
 * https://connectrpc.com/docs/protocol/#error-codes. Returns 500 for an unknown
 * code. */
int sp_connect_status(const char *code);

/* Replace the response by an error. */
void sp_connect_refuse(sp_http_response *response, const char *code,
                       const char *message);

/* Append {"code":…,"message":…}, for other calls with this form of errors. */
void sp_connect_refuse_text(sp_buffer *out, const char *code,
                            const char *message);

/* Answer 415 with the accepted media types. */
void sp_connect_refuse_type(sp_http_response *response, const char *accepted);

#endif
