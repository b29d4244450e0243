#include "connect.h"

#include <string.h>
#include <strings.h>

#include "unpack.h"

static const char connect_accepted_types[] =
    "application/grpc, application/grpc+json, "
    "application/grpc+json; charset=utf-8, application/grpc+proto, "
    "application/grpc-web, application/grpc-web+json, "
    "application/grpc-web+json; charset=utf-8, application/grpc-web+proto, "
    "application/json, application/json; charset=utf-8, application/proto";

/* Answer a request of gRPC over HTTP/1.1 with the HTTP status 200 and gRPC's
 * status 12, unimplemented. gRPC has its status in trailers, which an answer
 * without a message may send as headers. Returns false if the request is not
 * gRPC. */
static bool connect_is_grpc(const char *type, sp_http_response *response) {
  if (strncasecmp(type, "application/grpc", strlen("application/grpc")) != 0 ||
      !strcasestr(connect_accepted_types, type))
    return false;
  sp_http_answer(response, 200, type, "");
  sp_http_set(response, "grpc-status", "12");
  sp_http_set(response, "grpc-message", "use Connect, not gRPC");
  return true;
}

static bool connect_type(const sp_http_request *request,
                         sp_connect_envelope *envelope,
                         sp_http_response *response) {
  const char *type = sp_http_header(request, "Content-Type");

  if (sp_connect_envelope_type(envelope, request))
    return true;
  if (!connect_is_grpc(type ? type : "", response))
    sp_connect_refuse_type(response, connect_accepted_types);
  return false;
}

bool sp_connect_early(void *data, const sp_http_request *request,
                      sp_http_response *response) {
  sp_connect_envelope envelope;

  (void)data;
  return !connect_type(request, &envelope, response);
}

void sp_connect_refuse_large(sp_http_response *response, const char *message) {
  sp_connect_refuse(response, "invalid_argument", message);
  response->status = 413;
}

bool sp_connect_open(const sp_http_request *request,
                     sp_connect_envelope *envelope,
                     sp_http_response *response) {
  if (!connect_type(request, envelope, response))
    return false;
  if (sp_connect_envelope_read(envelope, request))
    return true;
  if (request->fault == SP_HTTP_FAULT_TOO_LARGE)
    sp_connect_refuse_large(response, "request body too large");
  else
    sp_connect_refuse(response, envelope->code, envelope->message);
  return false;
}

bool sp_connect_message(const sp_http_request *request,
                        const sp_connect_envelope *envelope,
                        sp_buffer *unpacked, sp_view *out,
                        sp_http_response *response) {
  sp_unpack_end end;

  *out = sp_view_of(request->body, request->body_size);
  if (!envelope->is_gzip || !request->body_size)
    return true;
  if (!sp_unpack_is_gzip(*out)) {
    sp_connect_refuse(response, "invalid_argument",
                      "get decompressor: gzip: invalid header");
    return false;
  }
  if (sp_unpack_gzip(*out, unpacked, SIZE_MAX, &end)) {
    sp_connect_refuse(response, "unavailable", "out of memory");
    return false;
  }
  *out = sp_view_of(unpacked->data, unpacked->size);
  if (end == SP_UNPACK_WHOLE)
    return true;
  sp_connect_refuse(response, "invalid_argument", "decompress: unexpected EOF");
  return false;
}

void sp_connect_done(const sp_http_request *request,
                     const sp_connect_envelope *envelope,
                     sp_http_response *response) {
  sp_http_answer(response, 200, envelope->type, envelope->is_json ? "{}" : "");
  sp_http_set(response, "Accept-Encoding", "gzip");
  response->gzip = envelope->is_gzip || sp_http_accepts_gzip(request);
}
