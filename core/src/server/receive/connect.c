#include "connect.h"

#include <jansson.h>
#include <stdlib.h>
#include <strings.h>

#include "../../util/utf8.h"
#include "unpack.h"

#define CONNECT_TIMEOUT_DIGITS 10

static const char connect_takes[] =
    "application/grpc, application/grpc+json, "
    "application/grpc+json; charset=utf-8, application/grpc+proto, "
    "application/grpc-web, application/grpc-web+json, "
    "application/grpc-web+json; charset=utf-8, application/grpc-web+proto, "
    "application/json, application/json; charset=utf-8, application/proto";

static const struct {
  const char *code;
  int status;
} connect_codes[] = {{"canceled", 499},
                     {"invalid_argument", 400},
                     {"deadline_exceeded", 504},
                     {"resource_exhausted", 429},
                     {"unimplemented", 501},
                     {"unavailable", 503},
                     {"unknown", 500}};

void sp_connect_error_text(sp_buffer *out, const char *code,
                           const char *message) {
  const size_t size = strlen(message);
  char *clean = sp_mem_new(out->mem, size + 1);
  json_t *root;
  char *text;
  bool changed;

  if (clean) {
    clean[sp_utf8_clean(message, size, clean, size, &changed)] = '\0';
    root = json_pack("{s:s, s:s}", "code", code, "message", clean);
    text = root ? json_dumps(root, JSON_COMPACT) : NULL;
    sp_buffer_text(out, text ? text : "");
    free(text);
    json_decref(root);
  }
  sp_mem_free(out->mem, clean);
}

void sp_connect_error(sp_http_response *response, const char *code,
                      const char *message) {
  size_t i;

  response->status = 500;
  for (i = 0; i < SP_COUNT_OF(connect_codes); i++)
    if (strcmp(connect_codes[i].code, code) == 0)
      response->status = connect_codes[i].status;
  sp_http_set(response, "Accept-Encoding", "gzip");
  sp_http_set(response, "Content-Type", "application/json");
  sp_buffer_clear(&response->body);
  sp_connect_error_text(&response->body, code, message);
}

/* gRPC over HTTP/1.1 has its result in trailers, which an answer without a
 * message may put among its headers: 200 and a status of 12, unimplemented. */
static bool connect_is_grpc(const char *type, sp_http_response *response) {
  if (strncasecmp(type, "application/grpc", strlen("application/grpc")) != 0 ||
      !strcasestr(connect_takes, type))
    return false;
  sp_http_answer(response, 200, type, "");
  sp_http_set(response, "grpc-status", "12");
  sp_http_set(response, "grpc-message", "use Connect, not gRPC");
  return true;
}

static bool connect_type(const sp_http_request *request, sp_connect_call *call,
                         sp_http_response *response) {
  const char *type = sp_http_header(request, "Content-Type");

  if (!type)
    type = "";
  if (strcasecmp(type, "application/proto") == 0) {
    call->codec = SP_CONNECT_PROTO;
    return true;
  }
  if (strcasecmp(type, "application/json") == 0 ||
      strcasecmp(type, "application/json; charset=utf-8") == 0) {
    call->codec = SP_CONNECT_JSON;
    return true;
  }
  if (connect_is_grpc(type, response))
    return false;
  sp_http_answer(response, 415, NULL, "");
  sp_http_set(response, "Accept-Post", connect_takes);
  return false;
}

/* An empty one is none; 0 milliseconds are over at once. */
static bool connect_timeout(const char *timeout, sp_http_response *response) {
  const size_t size = timeout ? strlen(timeout) : 0;

  if (!size)
    return true;
  if (size > CONNECT_TIMEOUT_DIGITS || strspn(timeout, "0123456789") != size) {
    sp_connect_error(response, "invalid_argument",
                     "Connect-Timeout-Ms is no number of at most 10 digits");
    return false;
  }
  if (strspn(timeout, "0") == size) {
    sp_connect_error(response, "deadline_exceeded",
                     "context deadline exceeded");
    return false;
  }
  return true;
}

static bool connect_fault(const sp_http_request *request,
                          sp_http_response *response) {
  switch (request->fault) {
  case SP_HTTP_FAULT_NONE:
    return false;
  case SP_HTTP_FAULT_CUT:
    sp_connect_error(response, "canceled", "unexpected EOF");
    return true;
  case SP_HTTP_FAULT_TOO_LARGE:
    sp_connect_error(response, "resource_exhausted",
                     "message size is larger than configured max");
    return true;
  case SP_HTTP_FAULT_BUSY:
    break;
  }
  sp_connect_error(response, "unavailable",
                   "too many uploads are under way, try again");
  return true;
}

bool sp_connect_early(void *data, const sp_http_request *request,
                      sp_http_response *response) {
  sp_connect_call call;

  (void)data;
  return !connect_type(request, &call, response);
}

bool sp_connect_open(const sp_http_request *request, sp_connect_call *call,
                     sp_http_response *response) {
  const char *version = sp_http_header(request, "Connect-Protocol-Version");
  const char *encoding = sp_http_header(request, "Content-Encoding");
  sp_buffer text;

  if (!connect_type(request, call, response))
    return false;
  sp_buffer_init(&text, response->body.mem);
  if (version && *version && strcmp(version, "1") != 0) {
    sp_buffer_format(
        &text, "Connect-Protocol-Version must be \"1\": got \"%s\"", version);
    sp_connect_error(response, "invalid_argument", text.data ? text.data : "");
    sp_buffer_dispose(&text);
    return false;
  }
  if (!connect_timeout(sp_http_header(request, "Connect-Timeout-Ms"), response))
    return false;
  call->gzip = encoding && strcmp(encoding, "gzip") == 0;
  if (!call->gzip && encoding && *encoding &&
      strcmp(encoding, "identity") != 0) {
    sp_buffer_format(&text,
                     "unknown compression \"%s\": supported encodings are gzip",
                     encoding);
    sp_connect_error(response, "unimplemented", text.data ? text.data : "");
    sp_buffer_dispose(&text);
    return false;
  }
  return !connect_fault(request, response);
}

bool sp_connect_message(const sp_http_request *request,
                        const sp_connect_call *call, size_t max,
                        sp_buffer *unpacked, sp_view *out,
                        sp_http_response *response) {
  sp_unpack_end end;

  *out = sp_view_of(request->body, request->body_size);
  if (!call->gzip || !request->body_size)
    return true;
  if (!sp_unpack_is_gzip(*out)) {
    sp_connect_error(response, "invalid_argument",
                     "get decompressor: gzip: invalid header");
    return false;
  }
  if (sp_unpack_gzip(*out, unpacked, max, &end)) {
    sp_connect_error(response, "unavailable", "out of memory");
    return false;
  }
  *out = sp_view_of(unpacked->data, unpacked->size);
  if (end == SP_UNPACK_WHOLE)
    return true;
  if (end == SP_UNPACK_LARGE)
    sp_connect_error(response, "resource_exhausted",
                     "message size is larger than configured max");
  else
    sp_connect_error(response, "invalid_argument",
                     "decompress: unexpected EOF");
  return false;
}

void sp_connect_done(const sp_http_request *request,
                     const sp_connect_call *call, sp_http_response *response) {
  const char *type = sp_http_header(request, "Content-Type");

  if (call->codec == SP_CONNECT_PROTO)
    type = "application/proto";
  else if (!strchr(type, ';'))
    type = "application/json";
  sp_http_answer(response, 200, type,
                 call->codec == SP_CONNECT_JSON ? "{}" : "");
  sp_http_set(response, "Accept-Encoding", "gzip");
  response->gzip = call->gzip || sp_http_takes_gzip(request);
}
