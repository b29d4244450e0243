#include "ingest.h"

#include "ingest_upload.h"
#include "server/receive/wire/connect.h"
#include "server/receive/wire/unpack.h"

/* A range from `from` to `until` that is longer than this is not taken as the
 * duration of the profile. */
#define INGEST_DURATION_MAX_NS ((int64_t)SP_NS_PER_S * 86400)

/* The format of a body. The parameter `format` selects it; the Content-Type
 * also selects TRIE and TREE, and is the only way to select FORM. */
typedef enum ingest_format {
  INGEST_FOLDED,
  INGEST_LINES,
  INGEST_TRIE,
  INGEST_TREE,
  INGEST_PPROF,
  INGEST_FORM,
  INGEST_SPEEDSCOPE,
  INGEST_JFR,
} ingest_format;

static ingest_format ingest_format_of(const char *format, const char *type) {
  if (strcmp(format, "trie") == 0 ||
      sp_http_is_type(type, "binary/octet-stream+trie"))
    return INGEST_TRIE;
  if (strcmp(format, "tree") == 0 ||
      sp_http_is_type(type, "binary/octet-stream+tree"))
    return INGEST_TREE;
  if (strcmp(format, "lines") == 0)
    return INGEST_LINES;
  if (strcmp(format, "jfr") == 0)
    return INGEST_JFR;
  if (strcmp(format, "pprof") == 0)
    return INGEST_PPROF;
  if (strcmp(format, "speedscope") == 0)
    return INGEST_SPEEDSCOPE;
  return sp_http_is_type(type, "multipart/form-data") ? INGEST_FORM
                                                      : INGEST_FOLDED;
}

static spanprof_status ingest_read(sp_ingest_upload *upload,
                                   ingest_format format, const char *type) {
  switch (format) {
  case INGEST_FOLDED:
    return sp_ingest_text(upload, sp_stack_folded);
  case INGEST_LINES:
    return sp_ingest_text(upload, sp_stack_lines);
  case INGEST_TRIE:
    return sp_ingest_text(upload, sp_stack_trie);
  case INGEST_TREE:
    return sp_ingest_text(upload, sp_stack_tree_read);
  case INGEST_PPROF:
    return sp_ingest_pprof(upload, NULL);
  case INGEST_FORM:
    return sp_ingest_pprof(upload, type);
  case INGEST_SPEEDSCOPE:
    return sp_ingest_speedscope(upload);
  case INGEST_JFR:
    break;
  }
  return sp_refuse(upload->refusal, SP_REFUSAL_BROKEN,
                   "this server does not read JFR: set PYROSCOPE_FORMAT=otlp "
                   "for the Java agent; it then sends only one event, and a "
                   "service name only if one is configured");
}

/* Returns the error code and HTTP status of a refusal. A violated rule and a
 * malformed body have different codes for text formats, but the same code for
 * pprof. */
static const char *ingest_code(const sp_refusal *refusal, ingest_format format,
                               int *status) {
  if (refusal->kind == SP_REFUSAL_LARGE) {
    *status = 413;
    return "invalid_argument";
  }
  if (refusal->kind == SP_REFUSAL_RATE) {
    *status = 429;
    return "resource_exhausted";
  }
  if (refusal->kind == SP_REFUSAL_STORE || refusal->kind == SP_REFUSAL_NONE) {
    *status = 503;
    return "unavailable";
  }
  if (refusal->kind == SP_REFUSAL_REQUEST) {
    *status = 400;
    return "invalid_argument";
  }
  if (refusal->kind == SP_REFUSAL_INVALID && format != INGEST_PPROF &&
      format != INGEST_FORM) {
    *status = 400;
    return "invalid_argument";
  }
  *status = 422;
  return "unknown";
}

static void ingest_error(sp_http_response *response, int status,
                         const char *code, const char *text) {
  sp_http_answer(response, status, "application/json", "");
  sp_http_set(response, "X-Content-Type-Options", "nosniff");
  sp_connect_refuse_text(&response->body, code, text);
}

static bool ingest_fault(const sp_http_request *request,
                         sp_http_response *response) {
  switch (request->fault) {
  case SP_HTTP_FAULT_NONE:
    return false;
  case SP_HTTP_FAULT_CUT:
    ingest_error(response, 408, "unknown",
                 "error reading request body: unexpected EOF");
    return true;
  case SP_HTTP_FAULT_TOO_LARGE:
    ingest_error(response, 413, "invalid_argument", "request body too large");
    return true;
  case SP_HTTP_FAULT_BUSY:
    break;
  }
  ingest_error(response, 503, "unavailable",
               "too many uploads are under way, try again");
  return true;
}

static const char *ingest_param(const sp_http_request *request,
                                const char *name, const char *otherwise) {
  const char *value = sp_http_query(request, name);

  return value && *value ? value : otherwise;
}

/* Returns the duration from `from` to `until`, or 0 if they are not a range. */
static int64_t ingest_duration_ns(const sp_http_request *request,
                                  int64_t from_ns) {
  const char *text = ingest_param(request, "until", NULL);
  int64_t duration_ns;

  if (!text || !ingest_param(request, "from", NULL) ||
      __builtin_sub_overflow(sp_ingest_time(text, from_ns), from_ns,
                             &duration_ns) ||
      duration_ns < 0 || duration_ns > INGEST_DURATION_MAX_NS)
    return 0;
  return duration_ns;
}

static spanprof_status ingest_name(sp_ingest_upload *upload,
                                   const sp_http_request *request) {
  const int64_t now = (int64_t)sp_clock_unix_ns(upload->batch->serve->clock);

  upload->spy = sp_view_text(ingest_param(request, "spyName", "unknown"));
  upload->rate = sp_ingest_rate(sp_http_query(request, "sampleRate"));
  upload->from_ns = sp_ingest_time(sp_http_query(request, "from"), now);
  upload->duration_ns = ingest_duration_ns(request, upload->from_ns);
  upload->body = sp_view_of(request->body, request->body_size);
  return sp_ingest_name_read(&upload->name, upload->arena->mem,
                             sp_view_text(ingest_param(request, "name", "")),
                             upload->refusal);
}

/* Decompress the body if it is gzip. `unpacked` then owns the body. */
static spanprof_status ingest_unpack(sp_ingest_upload *upload,
                                     const sp_http_request *request,
                                     sp_buffer *unpacked) {
  sp_unpack_end end = SP_UNPACK_BROKEN;
  spanprof_status st = SPANPROF_OK;

  if (sp_unpack_encoding_of(request) != SP_UNPACK_GZIP)
    return SPANPROF_OK;
  if (sp_unpack_is_gzip(upload->body))
    st = sp_unpack_gzip(upload->body, unpacked, SIZE_MAX, &end);
  upload->body = sp_view_of(unpacked->data, unpacked->size);
  return st || end == SP_UNPACK_WHOLE
             ? st
             : sp_refuse(upload->refusal, SP_REFUSAL_BROKEN,
                         "the body is malformed or truncated gzip");
}

static void ingest_receive(sp_ingest_upload *upload,
                           const sp_http_request *request,
                           sp_http_response *response) {
  const char *type = sp_http_header(request, "Content-Type");
  const ingest_format format =
      ingest_format_of(ingest_param(request, "format", ""), type ? type : "");
  sp_upload *memory = upload->batch->upload;
  spanprof_status st, put;
  const char *code;
  sp_buffer unpacked;
  int status;

  sp_buffer_init(&unpacked, &memory->mem);
  sp_upload_enter(memory);
  st = ingest_unpack(upload, request, &unpacked);
  if (!st)
    st = ingest_read(upload, format, type ? type : "");
  sp_upload_leave(memory);
  sp_buffer_dispose(&unpacked);
  put = sp_batch_put(upload->batch, upload->refusal);
  st = sp_upload_explain(memory, upload->refusal, st);
  if (!st && !put) {
    sp_count(&upload->batch->serve->counters.compressed_bytes,
             request->body_size);
    return;
  }
  code = ingest_code(upload->refusal, format, &status);
  ingest_error(response, status, code,
               upload->refusal->kind == SP_REFUSAL_NONE
                   ? spanprof_status_text(st ? st : put)
                   : sp_refusal_text(upload->refusal));
}

static void ingest_handle(sp_serve *serve, const sp_http_request *request,
                          sp_http_response *response) {
  sp_refusal refusal;
  sp_upload memory;
  sp_batch batch;
  sp_arena arena;
  sp_ingest_upload upload = {
      .batch = &batch, .arena = &arena, .refusal = &refusal};
  spanprof_status st;

  sp_http_set(response, "Vary", "Accept-Encoding");
  if (ingest_fault(request, response))
    return;
  if (sp_unpack_encoding_of(request) == SP_UNPACK_OTHER) {
    ingest_error(response, 415, "invalid_argument", SP_UNPACK_UNSUPPORTED);
    return;
  }
  sp_refusal_init(&refusal, &sp_mem_default);
  sp_upload_begin(&memory, serve);
  sp_batch_init(&batch, &memory);
  sp_arena_init(&arena, &memory.mem, SIZE_MAX);
  st = ingest_name(&upload, request);
  if (st)
    ingest_error(response, refusal.kind == SP_REFUSAL_NONE ? 503 : 400,
                 refusal.kind == SP_REFUSAL_NONE ? "unavailable"
                                                 : "invalid_argument",
                 sp_refusal_text(&refusal));
  else
    ingest_receive(&upload, request, response);
  sp_ingest_name_dispose(&upload.name);
  sp_arena_dispose(&arena);
  sp_batch_dispose(&batch);
  sp_upload_end(&memory);
  sp_refusal_dispose(&refusal);
}

void sp_ingest_handle(void *data, const sp_http_request *request,
                      sp_http_response *response) {
  ingest_handle(data, request, response);
  if (response->status >= 400)
    sp_refusal_log(data, "/ingest", response->body.data);
}
