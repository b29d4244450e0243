#include "connect_transport.h"

#include <string.h>

#include "profile/pprof/gunzip.h"
#include "server/http/message/connect_envelope.h"
#include "util/system/clock.h"

static const char transport_types[] =
    "application/json, application/json; charset=utf-8, application/proto";

void sp_transport_dispose(sp_transport *transport) {
  sp_buffer_dispose(&transport->unpacked);
}

void sp_transport_refuse(const sp_query_fault *fault,
                         sp_http_response *response) {
  sp_connect_refuse(response, fault->code, fault->message);
}

/* Set the query's deadline to the client's timeout. */
static void transport_deadline(const sp_connect_envelope *envelope,
                               const sp_query *query) {
  if (envelope->has_timeout)
    sp_cancel_by(query->http->cancel,
                 sp_monotonic_ns() + envelope->timeout_ms * SP_NS_PER_MS);
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
    return sp_query_invalid(query,
                            "decompress: the body is not complete gzip data");
  if (st == SPANPROF_ERR_LIMIT)
    return sp_query_refuse(&query->fault, SP_CODE_EXHAUSTED,
                           "message size is larger than configured max");
  return st;
}

bool sp_transport_open(sp_transport *transport, sp_query *query,
                       size_t body_max, sp_http_response *response) {
  sp_connect_envelope envelope;
  spanprof_status st;

  memset(transport, 0, sizeof *transport);
  sp_buffer_init(&transport->unpacked, query->mem);
  if (!sp_connect_envelope_type(&envelope, query->http)) {
    sp_connect_refuse_type(response, transport_types);
    return false;
  }
  if (!sp_connect_envelope_read(&envelope, query->http)) {
    sp_connect_refuse(response, envelope.code, envelope.message);
    return false;
  }
  sp_http_set(response, "Content-Type", envelope.type);
  transport->is_json = envelope.is_json;
  transport->is_gzip = envelope.is_gzip;
  transport_deadline(&envelope, query);
  st = transport_body(transport, query, body_max);
  if (!st)
    return true;
  sp_query_explain(query, st);
  sp_transport_refuse(&query->fault, response);
  return false;
}
