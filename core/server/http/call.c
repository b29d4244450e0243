#include "call.h"

#include <malloc.h>
#include <string.h>
#include <sys/socket.h>

#include "profile/pprof/gzip_stream.h"
#include "server/http/message/base_path.h"
#include "server/http/message/unknown_path.h"
#include "util/system/clock.h"

/* Time after which a query is cancelled. */
#define CALL_NS_MAX (300 * SP_NS_PER_S)

/* Bytes to compress between two checks whether the call was cancelled. */
#define CALL_GZIP_BYTES ((size_t)1 << 20)

static bool call_pair(sp_http_call *call, const char *name, const char *value) {
  void *array = call->pairs;

  if (sp_mem_reserve(&sp_mem_default, &array, &call->pair_capacity,
                     call->pair_count + 1, sizeof *call->pairs)) {
    call->out_of_memory = true;
    return false;
  }
  call->pairs = array;
  call->pairs[call->pair_count++] =
      (sp_text_pair){.name = name, .value = value ? value : ""};
  return true;
}

static enum MHD_Result call_header(void *data, enum MHD_ValueKind kind,
                                   const char *name, const char *value) {
  (void)kind;
  return call_pair(data, name, value) ? MHD_YES : MHD_NO;
}

/* Copy the path, from the last doubled slash if it has any: clients written in
 * Rust join a base URL that ends in a slash with a path that begins with one.
 */
static char *call_path(const char *url) {
  const char *doubled = NULL, *at;

  for (at = strstr(url, "//"); at; at = strstr(at + 1, "//"))
    doubled = at;
  return sp_mem_text(&sp_mem_default, doubled ? doubled + 1 : url,
                     strlen(doubled ? doubled + 1 : url));
}

static void call_read(sp_http_call *call, const char *url, const char *method) {
  call->path = call_path(url);
  sp_buffer_append(&call->texts, url, strlen(url) + 1);
  sp_buffer_append(&call->texts, method, strlen(method) + 1);
  MHD_get_connection_values(call->connection, MHD_HEADER_KIND, call_header,
                            call);
  call->header_count = call->pair_count;
  MHD_get_connection_values(call->connection, MHD_GET_ARGUMENT_KIND,
                            call_header, call);
  if (!call->path || sp_buffer_status(&call->texts))
    call->out_of_memory = true;
  if (call->out_of_memory)
    return;
  call->request = (sp_http_request){
      .method = call->texts.data + strlen(url) + 1,
      .path = call->path,
      .full_path = call->texts.data,
      .path_suffix = "",
      .headers = {.pairs = call->pairs, .count = call->header_count},
      .query = {.pairs = call->pairs + call->header_count,
                .count = call->pair_count - call->header_count},
      .body = "",
      .cancel = &call->cancel,
      .call = call,
  };
}

static void call_begin_answer(sp_http_call *call) {
  call->response = (sp_http_response){.status = MHD_HTTP_OK};
  sp_buffer_init(&call->response.body, &sp_mem_default);
  call->response.body.size_max = SP_HTTP_BODY_MAX;
}

sp_http_call *sp_http_call_new(struct sp_http_server *server,
                               struct MHD_Connection *connection,
                               const char *url, const char *method) {
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
  sp_http_call *call = sp_mem_zero(&sp_mem_default, sizeof *call);

  if (!call)
    return NULL;
  call->server = server;
  call->connection = connection;
  call->begin_ns = sp_monotonic_ns();
  call->tracked = info ? info->socket_context : NULL;
  sp_cancel_by(&call->cancel, call->begin_ns + CALL_NS_MAX);
  call_begin_answer(call);
  sp_buffer_init(&call->body, &sp_mem_default);
  sp_buffer_init(&call->texts, &sp_mem_default);
  call_read(call, url, method);
  if (!call->out_of_memory)
    return call;
  sp_http_call_free(call);
  return NULL;
}

void sp_http_call_find(sp_http_call *call, const sp_http_routes *routes,
                       const char *base_path, const sp_guard *guard) {
  static const char prefix[] = "/pyroscope/";
  sp_http_request *request = &call->request;
  sp_http_response *response = &call->response;
  const char *allow, *sentence;
  bool sends_allow;

  request->path = sp_base_path_strip(base_path, request->path);
  call->route =
      sp_http_routes_find(routes, request->method, request->path,
                          &request->path_suffix, &allow, &sends_allow);
  if (!call->route && !allow &&
      strncmp(request->path, prefix, sizeof prefix - 1) == 0) {
    request->path += sizeof prefix - 2;
    call->route =
        sp_http_routes_find(routes, request->method, request->path,
                            &request->path_suffix, &allow, &sends_allow);
  }
  call->counted_route = call->route;
  if (!call->route && !allow && routes->unknown.handler &&
      sp_http_asks_for_page(request))
    call->route = &routes->unknown;
  if (!sp_guard_passes(guard, call->route, request, response)) {
    call->route = NULL;
  } else if (base_path && !*request->path &&
             (strcmp(request->method, "GET") == 0 ||
              strcmp(request->method, "HEAD") == 0)) {
    sp_base_path_redirect(base_path, request, response);
    call->route = NULL;
  } else if (!call->route && allow) {
    sp_http_answer(response, MHD_HTTP_METHOD_NOT_ALLOWED, NULL, "");
    if (sends_allow)
      sp_http_set(response, "Allow", allow);
  } else if (!call->route) {
    sentence = sp_http_unknown_path(request);
    sp_http_answer(response, MHD_HTTP_NOT_FOUND, "text/plain; charset=utf-8",
                   sentence ? sentence : "404 page not found\n");
    sp_http_set(response, "X-Content-Type-Options", "nosniff");
  } else if (call->route->early &&
             call->route->early(call->route->data, request, response)) {
    call->route = NULL;
  }
}

static void call_end_answer(sp_http_call *call) {
  size_t i;

  for (i = 0; i < call->response.header_count; i++) {
    sp_mem_free(&sp_mem_default, (char *)call->response.headers[i].name);
    sp_mem_free(&sp_mem_default, (char *)call->response.headers[i].value);
  }
  sp_buffer_dispose(&call->response.body);
}

void sp_http_call_free(sp_http_call *call) {
  if (!call)
    return;
  call_end_answer(call);
  sp_buffer_dispose(&call->body);
  sp_buffer_dispose(&call->texts);
  sp_mem_free(&sp_mem_default, call->pairs);
  sp_mem_free(&sp_mem_default, call->path);
  sp_mem_free(&sp_mem_default, call);
}

/* Compress the body. If the call is cancelled or memory runs out, the body is
 * unchanged. */
static void call_gzip(sp_http_response *response, sp_cancel *cancel) {
  sp_gzip gzip;
  void *bytes = NULL;
  size_t size, at;
  spanprof_status st;

  memset(&gzip, 0, sizeof gzip);
  st = sp_gzip_open(&gzip, &sp_mem_default);
  for (at = 0; !st && at < response->body.size; at += CALL_GZIP_BYTES) {
    st = sp_cancel_check(cancel);
    if (!st)
      st = sp_gzip_write(&gzip, response->body.data + at,
                         sp_min_u64(CALL_GZIP_BYTES, response->body.size - at));
  }
  if (!st && !sp_gzip_finish(&gzip, &bytes, &size)) {
    sp_buffer_clear(&response->body);
    sp_buffer_append(&response->body, bytes, size);
    sp_mem_free(&sp_mem_default, bytes);
    sp_http_set(response, "Content-Encoding", "gzip");
  }
  sp_gzip_dispose(&gzip);
}

static void call_set_large(sp_http_call *call) {
  call->is_large = true;
  call->response.body.size_max = SP_HTTP_BODY_MAX;
}

bool sp_http_try_large(const sp_http_request *request) {
  sp_http_call *call = request->call;

  if (call && !call->is_large && sp_gate_enter_within(call->large, 0))
    call_set_large(call);
  return call && call->is_large;
}

void sp_http_call_set_retry(sp_http_call *call) {
  call_end_answer(call);
  call_begin_answer(call);
  call->request.is_limited = false;
  call->is_retry = true;
}

void sp_http_call_run(sp_http_call *call) {
  sp_http_response *response = &call->response;

  if (call->is_retry) {
    sp_gate_enter(call->large);
    call_set_large(call);
  }
  call->route->handler(call->route->data, &call->request, response);
  if (response->gzip && !response->needs_large &&
      !sp_buffer_status(&response->body))
    call_gzip(response, &call->cancel);
  if (!call->is_large)
    return;
  /* Return the memory that the call freed to the system. Without malloc_trim(),
   * each of the C library's arenas would keep it. */
  malloc_trim(0);
  call->is_large = false;
  sp_gate_leave(call->large);
}

static void call_finish(sp_http_call *call) {
  sp_http_response *response = &call->response;

  if (sp_buffer_status(&response->body)) {
    sp_buffer_dispose(&response->body);
    sp_http_answer(response, MHD_HTTP_SERVICE_UNAVAILABLE, "text/plain",
                   "out of memory for the answer\n");
  }
  if (response->status == MHD_HTTP_SERVICE_UNAVAILABLE)
    sp_http_set(response, "Retry-After", "1");
  sp_http_set(response, "Server", "spanprof/" SPANPROF_VERSION);
  sp_http_set(response, "Spanprof-Links", "span");
}

enum MHD_Result sp_http_call_answer(sp_http_call *call) {
  sp_http_response *answer = &call->response;
  struct MHD_Response *response;
  enum MHD_Result queued;
  size_t i;

  call_finish(call);
  response = MHD_create_response_from_buffer(
      answer->body.size, answer->body.data, MHD_RESPMEM_PERSISTENT);
  if (!response)
    return MHD_NO;
  for (i = 0; i < answer->header_count; i++)
    MHD_add_response_header(response, answer->headers[i].name,
                            answer->headers[i].value);
  queued =
      MHD_queue_response(call->connection, (unsigned)answer->status, response);
  MHD_destroy_response(response);
  return queued;
}

void sp_http_call_answer_cut(sp_http_call *call, int socket) {
  sp_http_response *answer = &call->response;
  sp_buffer out;
  size_t i;

  call_finish(call);
  sp_buffer_init(&out, &sp_mem_default);
  sp_buffer_format(&out, "HTTP/1.1 %d Cut off\r\n", answer->status);
  for (i = 0; i < answer->header_count; i++)
    sp_buffer_format(&out, "%s: %s\r\n", answer->headers[i].name,
                     answer->headers[i].value);
  sp_buffer_format(&out, "Content-Length: %zu\r\nConnection: close\r\n\r\n",
                   answer->body.size);
  sp_buffer_append(&out, answer->body.data, answer->body.size);
  /* Do not wait if the client does not read. */
  if (!sp_buffer_status(&out) &&
      send(socket, out.data, out.size, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
    call->out_of_memory = true;
  sp_buffer_dispose(&out);
}
