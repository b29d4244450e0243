#include "connect_transport.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "../../profile/gunzip.h"
#include "../../util/clock.h"
#include "../../util/utf8.h"
#include "json_writer.h"

#define TRANSPORT_TIMEOUT_DIGITS 10

static const char transport_takes[] =
    "application/json, application/json; charset=utf-8, application/proto";

void sp_transport_dispose(sp_transport *transport) {
  sp_buffer_dispose(&transport->unpacked);
}

void sp_transport_refuse(const sp_query_fault *fault,
                         sp_http_response *response) {
  char message[sizeof fault->message];
  bool changed;
  const size_t size = sp_utf8_clean(fault->message, strlen(fault->message),
                                    message, sizeof message - 1, &changed);
  const sp_mem *mem = response->body.mem;
  sp_json json;

  /* What the call wrote before it failed, and whether it found no room. */
  sp_buffer_dispose(&response->body);
  sp_buffer_init(&response->body, mem);
  json = sp_json_of(&response->body);
  sp_json_open(&json, '{');
  sp_json_member_text(&json, "code", fault->code);
  sp_json_key(&json, "message");
  sp_json_text_bytes(&json, message, size);
  sp_json_close(&json, '}');
  response->status = sp_query_fault_http(fault->code);
  sp_http_set(response, "Accept-Encoding", "gzip");
  sp_http_set(response, "Content-Type", "application/json");
}

static bool transport_type(sp_transport *transport, const sp_query *query,
                           sp_http_response *response) {
  const char *type = sp_http_header(query->http, "Content-Type");

  if (!type)
    type = "";
  transport->is_json = strcasecmp(type, "application/json") == 0 ||
                       strcasecmp(type, "application/json; charset=utf-8") == 0;
  if (transport->is_json || strcasecmp(type, "application/proto") == 0) {
    sp_http_set(response, "Content-Type", type);
    return true;
  }
  sp_http_answer(response, 415, NULL, "");
  sp_http_set(response, "Accept-Post", transport_takes);
  return false;
}

/* How long the client waits, which an empty or missing text does not say. */
static spanprof_status transport_deadline(sp_query *query) {
  const char *text = sp_http_header(query->http, "Connect-Timeout-Ms");
  const size_t size = text ? strlen(text) : 0;
  uint64_t until;

  if (size == 0)
    return SPANPROF_OK;
  if (size > TRANSPORT_TIMEOUT_DIGITS || strspn(text, "0123456789") < size)
    return sp_query_invalid(
        query, "Connect-Timeout-Ms is no number of at most 10 digits");
  until = sp_monotonic_ns() + strtoull(text, NULL, 10) * SP_NS_PER_MS;
  if (until < query->deadline_ns)
    query->deadline_ns = until;
  if (strspn(text, "0") == size)
    return sp_query_refuse(&query->fault, SP_CODE_DEADLINE,
                           "context deadline exceeded");
  return SPANPROF_OK;
}

static spanprof_status transport_headers(sp_transport *transport,
                                         sp_query *query) {
  const char *version = sp_http_header(query->http, "Connect-Protocol-Version");
  const char *encoding = sp_http_header(query->http, "Content-Encoding");

  if (version && *version && strcmp(version, "1") != 0)
    return sp_query_invalid(
        query, "Connect-Protocol-Version must be \"1\": got \"%s\"", version);
  transport->is_gzip = encoding && strcmp(encoding, "gzip") == 0;
  if (!transport->is_gzip && encoding && *encoding &&
      strcmp(encoding, "identity") != 0)
    return sp_query_refuse(
        &query->fault, SP_CODE_UNIMPLEMENTED,
        "unknown compression \"%s\": supported encodings are gzip", encoding);
  return transport_deadline(query);
}

static spanprof_status transport_fault(sp_query *query) {
  switch (query->http->fault) {
  case SP_HTTP_FAULT_NONE:
    return SPANPROF_OK;
  case SP_HTTP_FAULT_CUT:
    return sp_query_refuse(&query->fault, SP_CODE_CANCELED, "unexpected EOF");
  case SP_HTTP_FAULT_TOO_LARGE:
    return sp_query_refuse(&query->fault, SP_CODE_EXHAUSTED,
                           "message size is larger than configured max");
  case SP_HTTP_FAULT_BUSY:
    break;
  }
  return sp_query_refuse(&query->fault, SP_CODE_UNAVAILABLE,
                         "too many bodies are under way, try again");
}

static spanprof_status transport_body(sp_transport *transport, sp_query *query,
                                      size_t body_max) {
  spanprof_status st;

  transport->body = query->http->body;
  transport->size = query->http->body_size;
  if (!transport->is_gzip || transport->size == 0)
    return SPANPROF_OK;
  st = sp_gunzip(&transport->unpacked, transport->body, transport->size,
                 body_max);
  transport->body = transport->unpacked.data;
  transport->size = transport->unpacked.size;
  if (st == SPANPROF_ERR_FORMAT)
    return sp_query_invalid(query, "decompress: the body is no whole gzip");
  if (st == SPANPROF_ERR_LIMIT)
    return sp_query_refuse(&query->fault, SP_CODE_EXHAUSTED,
                           "message size is larger than configured max");
  return st;
}

bool sp_transport_open(sp_transport *transport, sp_query *query,
                       size_t body_max, sp_http_response *response) {
  spanprof_status st;

  memset(transport, 0, sizeof *transport);
  sp_buffer_init(&transport->unpacked, query->serve->mem);
  if (!transport_type(transport, query, response))
    return false;
  st = transport_headers(transport, query);
  if (!st)
    st = transport_fault(query);
  if (!st)
    st = transport_body(transport, query, body_max);
  if (!st)
    return true;
  sp_query_explain(query, st);
  sp_transport_refuse(&query->fault, response);
  return false;
}
