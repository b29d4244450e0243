/* What is around the message of a unary call of the Connect protocol: codec,
 * compression, version and timeout of a request, and the form of a refusal:
 * https://connectrpc.com/docs/protocol. The uploads' and the queries' calls
 * differ in what they do with the message alone. */
#ifndef SP_CONNECT_ENVELOPE_H
#define SP_CONNECT_ENVELOPE_H

#include "http.h"

typedef struct sp_connect_envelope {
  const char *type; /* the media type as the answer has it */
  bool is_json;     /* else protobuf */
  bool is_gzip;     /* of the body */
  bool has_timeout;
  uint64_t timeout_ms;
  /* What is wrong; NULL: nothing. */
  const char *code;
  char message[512];
} sp_connect_envelope;

/* Read the codec. False: it is another media type; nothing is answered. */
bool sp_connect_envelope_type(sp_connect_envelope *envelope,
                              const sp_http_request *request);

/* Read the rest, and what went wrong with the body. False: code and message
 * are set. */
bool sp_connect_envelope_read(sp_connect_envelope *envelope,
                              const sp_http_request *request);

/* The HTTP status of a code:
 * https://connectrpc.com/docs/protocol/#error-codes; 500 of unknown ones. */
int sp_connect_status(const char *code);

/* Answer with a refusal, in place of what stands in *response. */
void sp_connect_refuse(sp_http_response *response, const char *code,
                       const char *message);

/* {"code":…,"message":…} alone, for other calls that answer so. */
void sp_connect_refuse_text(sp_buffer *out, const char *code,
                            const char *message);

/* Answer 415 and name the media types that are taken. */
void sp_connect_refuse_type(sp_http_response *response, const char *takes);

#endif
