/* Reads the codec, compression, version and timeout of unary calls of the
 * Connect protocol (https://connectrpc.com/docs/protocol), and writes its
 * errors. Used for uploads and for queries, which read the messages themselves.
 */
#ifndef SP_CONNECT_ENVELOPE_H
#define SP_CONNECT_ENVELOPE_H

#include "http.h"

typedef struct sp_connect_envelope {
  const char *type; /* media type of the answer */
  bool is_json;     /* false: protobuf */
  bool is_gzip;     /* the body is compressed */
  bool has_timeout;
  uint64_t timeout_ms;
  /* The code and message of an error; `code` is NULL if there is none. */
  const char *code;
  char message[512];
} sp_connect_envelope;

/* Read the codec. Returns false for another media type, and does not set an
 * error then. */
bool sp_connect_envelope_type(sp_connect_envelope *envelope,
                              const sp_http_request *request);

/* Read the other headers, and check request->fault. Returns false if there is
 * an error; `code` and `message` are set then. */
bool sp_connect_envelope_read(sp_connect_envelope *envelope,
                              const sp_http_request *request);

/* Returns the HTTP status of an error code:
 * https://connectrpc.com/docs/protocol/#error-codes. Returns 500 for an unknown
 * code. */
int sp_connect_status(const char *code);

/* Set the response to this error. */
void sp_connect_refuse(sp_http_response *response, const char *code,
                       const char *message);

/* Append {"code":…,"message":…}, for calls other than Connect's that report
 * errors in this form. */
void sp_connect_refuse_text(sp_buffer *out, const char *code,
                            const char *message);

/* Set the response to status 415, with the accepted media types. */
void sp_connect_refuse_type(sp_http_response *response, const char *accepted);

#endif
