#include "otlp.h"

#include "otlp_json.h"
#include "otlp_profile.h"
#include "server/receive/profile/batch.h"
#include "server/receive/wire/unpack.h"
#include "util/text/utf8.h"

/* Fields of the request, of ResourceProfiles and of ScopeProfiles. */
enum {
  OTLP_REQUEST_RESOURCES = 1,
  OTLP_REQUEST_DICTIONARY = 2,
  OTLP_OWNER = 1, /* the resource or the scope */
  OTLP_OWNED = 2  /* the scopes or the profiles */
};

/* Limits of a request, because attributes are compared pairwise and processed
 * again for each profile. */
#define OTLP_ATTRIBUTES_MAX ((size_t)128) /* of a resource with a scope */
#define OTLP_PROFILES_MAX   ((size_t)10000)

typedef struct otlp_work {
  sp_upload upload;
  sp_batch batch;
  sp_arena arena;   /* owns the dictionary */
  sp_arena scratch; /* owns the current profile */
  sp_refusal refusal;
  sp_otlp_tables tables;
  sp_view resource;
  sp_view scope;
  size_t resources;
  size_t profiles;
  /* The attributes of the current resource, followed by those of the current
   * scope. They are read for the first profile that needs them. */
  sp_series_labels shared;
  size_t resource_count; /* number of attributes of the resource in `shared` */
  bool resource_is_read, scope_is_read;
  sp_view service; /* the service name of the resource */
} otlp_work;

/* Add the attributes of a resource (in field 1) or a scope (in field 3) to
 * work->shared. If a key exists already, the existing value is kept. */
static spanprof_status otlp_attributes(otlp_work *work, sp_view owner,
                                       uint32_t number) {
  sp_series_labels *labels = &work->shared;
  sp_wire wire = sp_wire_of(owner);
  spanprof_status st = SPANPROF_OK;
  size_t count = labels->count;
  sp_wire_field field;
  sp_view key, value, text;

  while (!st && sp_wire_next(&wire, &field)) {
    if (field.number != number || field.type != SP_WIRE_BYTES)
      continue;
    if (++count > OTLP_ATTRIBUTES_MAX)
      return sp_refuse(&work->refusal, SP_REFUSAL_BROKEN,
                       "a resource has more than %zu attributes",
                       OTLP_ATTRIBUTES_MAX);
    if (!sp_otlp_tables_key_value(&work->tables, field.bytes, &key, &value) ||
        !sp_utf8_valid(key.bytes, key.size))
      return sp_refuse(&work->refusal, SP_REFUSAL_BROKEN,
                       "Failed to parse protobuf request");
    st = sp_otlp_value_text(&work->tables, &work->arena, value, &text,
                            &work->refusal);
    if (!st && key.size && text.size && !sp_view_is(key, "__name__") &&
        !sp_series_labels_get(labels, key).size)
      st = sp_series_labels_add(labels, key, text);
  }
  return st ? st : sp_wire_status(&wire, "Resource", &work->refusal);
}

/* Set the service to "unknown_service:ruby" if the resource has no service
 * name. */
static spanprof_status otlp_service(otlp_work *work) {
  const sp_view program = sp_series_labels_get(
      &work->shared, sp_view_text("process.executable.name"));
  const size_t size = strlen(SP_SERIES_UNKNOWN_SERVICE);
  spanprof_status st;
  char *text;

  work->service =
      sp_series_labels_get(&work->shared, sp_view_text("service.name"));
  if (work->service.size)
    return SPANPROF_OK;
  st = sp_raw_new(&work->arena, size + 1 + program.size, 1, &text,
                  &work->refusal);
  if (st)
    return st;
  memcpy(text, SP_SERIES_UNKNOWN_SERVICE, size);
  work->service = sp_view_of(text, size);
  if (!program.size)
    return SPANPROF_OK;
  text[size] = ':';
  memcpy(text + size + 1, program.bytes, program.size);
  work->service.size += 1 + program.size;
  return SPANPROF_OK;
}

static spanprof_status otlp_shared(otlp_work *work) {
  spanprof_status st = SPANPROF_OK;

  if (!work->resource_is_read) {
    work->shared.count = 0;
    st = otlp_attributes(work, work->resource, 1);
    if (!st)
      st = otlp_service(work);
    work->resource_count = work->shared.count;
    work->resource_is_read = !st;
  }
  if (!st && !work->scope_is_read) {
    work->shared.count = work->resource_count;
    st = otlp_attributes(work, work->scope, 3);
    work->scope_is_read = !st;
  }
  return st;
}

static spanprof_status otlp_labels(otlp_work *work,
                                   const sp_otlp_profile *profile,
                                   sp_series_labels *labels) {
  spanprof_status st = otlp_shared(work);
  size_t i;

  for (i = 0; !st && i < work->shared.count; i++)
    st = sp_series_labels_add(labels, work->shared.labels[i].name,
                              work->shared.labels[i].value);
  if (!st)
    st = sp_series_labels_add(labels, sp_view_text("__delta__"),
                              sp_view_text("false"));
  if (!st)
    st = sp_series_labels_add(labels, sp_view_text("__otel__"),
                              sp_view_text("true"));
  if (!st)
    st = sp_series_labels_add(labels, sp_view_text("__name__"), profile->name);
  return st ? st
            : sp_series_labels_add(labels, sp_view_text("service_name"),
                                   profile->service.size ? profile->service
                                                         : work->service);
}

/* Convert one profile. A profile that violates a rule does not affect the
 * others; a profile that cannot be converted makes the whole request fail. */
static spanprof_status otlp_convert(otlp_work *work, sp_view message) {
  sp_series_labels labels;
  sp_otlp_profile *profiles;
  spanprof_status st;
  size_t count, i;

  sp_arena_clear(&work->scratch);
  st = sp_otlp_profile_convert(&profiles, &count, &work->tables, message,
                               &work->refusal);
  for (i = 0; !st && i < count; i++) {
    sp_series_labels_init(&labels, work->arena.mem);
    st = otlp_labels(work, &profiles[i], &labels);
    if (!st)
      st =
          sp_batch_add(&work->batch, &profiles[i].raw, &labels, &work->refusal);
    sp_series_labels_dispose(&labels);
    if (st == SPANPROF_ERR_FORMAT && work->refusal.kind != SP_REFUSAL_BROKEN)
      st = SPANPROF_OK;
  }
  if (st == SPANPROF_ERR_FORMAT && work->refusal.kind != SP_REFUSAL_BROKEN)
    st = SPANPROF_OK;
  return st;
}

static spanprof_status otlp_profile(otlp_work *work, sp_view message) {
  spanprof_status st;

  if (++work->profiles > OTLP_PROFILES_MAX)
    return sp_refuse(&work->refusal, SP_REFUSAL_BROKEN,
                     "the request has more than %zu profiles: send fewer at a "
                     "time",
                     OTLP_PROFILES_MAX);
  sp_upload_enter(&work->upload);
  st = otlp_convert(work, message);
  sp_upload_leave(&work->upload);
  return st ? st : sp_batch_put_if_large(&work->batch, &work->refusal);
}

typedef spanprof_status (*otlp_visit)(otlp_work *work, sp_view message);

/* Set *owner to field 1 of a message, its resource or scope, and call `visit`
 * with each field 2, its scopes or profiles. */
static spanprof_status otlp_owned(otlp_work *work, sp_view message,
                                  sp_view *owner, otlp_visit visit) {
  sp_wire wire = sp_wire_of(message);
  spanprof_status st = SPANPROF_OK;
  sp_wire_field field;

  *owner = sp_view_of("", 0);
  while (sp_wire_next(&wire, &field))
    if (field.number == OTLP_OWNER && field.type == SP_WIRE_BYTES)
      *owner = field.bytes;
  st = sp_wire_status(&wire, "Resource", &work->refusal);
  wire = sp_wire_of(message);
  while (!st && sp_wire_next(&wire, &field)) {
    if (field.number != OTLP_OWNED)
      continue;
    if (!sp_wire_require(&wire, &field, SP_WIRE_BYTES, "profiles"))
      return sp_wire_status(&wire, "Resource", &work->refusal);
    st = visit(work, field.bytes);
  }
  return st;
}

static spanprof_status otlp_scope(otlp_work *work, sp_view message) {
  work->scope_is_read = false;
  return otlp_owned(work, message, &work->scope, otlp_profile);
}

/* Find the dictionary, which may be anywhere in the request, and check that the
 * whole request can be decoded. */
static spanprof_status otlp_dictionary(otlp_work *work, sp_view request) {
  sp_view dictionary = {NULL, 0};
  sp_wire wire = sp_wire_of(request);
  spanprof_status st;
  sp_wire_field field;

  while (sp_wire_next(&wire, &field)) {
    if (field.number > OTLP_REQUEST_DICTIONARY)
      continue;
    if (!sp_wire_require(&wire, &field, SP_WIRE_BYTES, "dictionary"))
      break;
    if (field.number == OTLP_REQUEST_DICTIONARY)
      dictionary = field.bytes;
    else
      work->resources++;
  }
  if (wire.fault)
    return sp_refuse(&work->refusal, SP_REFUSAL_BROKEN,
                     "Failed to parse protobuf request");
  if (!dictionary.bytes)
    return sp_refuse(&work->refusal, SP_REFUSAL_BROKEN,
                     "missing profile metadata dictionary");
  if (!work->resources)
    return sp_refuse(&work->refusal, SP_REFUSAL_BROKEN,
                     "missing resource profiles");
  st = sp_otlp_tables_read(&work->tables, &work->arena, dictionary,
                           &work->refusal);
  work->tables.arena = &work->scratch;
  return st;
}

static spanprof_status otlp_receive(otlp_work *work, sp_view request) {
  spanprof_status st;
  sp_wire wire = sp_wire_of(request);
  sp_wire_field field;

  sp_upload_enter(&work->upload);
  st = otlp_dictionary(work, request);
  sp_upload_leave(&work->upload);
  while (!st && sp_wire_next(&wire, &field)) {
    if (field.number != OTLP_REQUEST_RESOURCES)
      continue;
    work->resource_is_read = false;
    st = otlp_owned(work, field.bytes, &work->resource, otlp_scope);
  }
  if (!st)
    st = sp_batch_put(&work->batch, &work->refusal);
  return st || work->refusal.kind == SP_REFUSAL_NONE ? st : SPANPROF_ERR_FORMAT;
}

static void otlp_error(sp_http_response *response, int status,
                       const char *text) {
  sp_http_answer(response, status, "text/plain; charset=utf-8", text);
  sp_buffer_append(&response->body, "\n", 1);
  sp_http_set(response, "X-Content-Type-Options", "nosniff");
}

static void otlp_refuse(sp_http_response *response, const sp_refusal *refusal,
                        spanprof_status st) {
  int status = 400;

  if (refusal->kind == SP_REFUSAL_LARGE)
    status = 413;
  else if (refusal->kind == SP_REFUSAL_RATE)
    status = 429;
  else if (refusal->kind == SP_REFUSAL_STORE ||
           refusal->kind == SP_REFUSAL_NONE)
    status = 503;
  otlp_error(response, status,
             refusal->kind == SP_REFUSAL_NONE ? spanprof_status_text(st)
                                              : sp_refusal_text(refusal));
}

static bool otlp_body(const sp_http_request *request, sp_buffer *unpacked,
                      sp_view *out, sp_http_response *response) {
  const sp_unpack_encoding encoding = sp_unpack_encoding_of(request);
  sp_unpack_end end = SP_UNPACK_WHOLE;

  *out = sp_view_of(request->body, request->body_size);
  if (request->fault == SP_HTTP_FAULT_CUT)
    otlp_error(response, 400, "failed to read request body");
  else if (request->fault == SP_HTTP_FAULT_TOO_LARGE)
    otlp_error(response, 413, "profile payload size exceeds limit of 32 MiB");
  else if (request->fault)
    otlp_error(response, 503, "too many uploads are under way, try again");
  else if (encoding == SP_UNPACK_OTHER)
    otlp_error(response, 415, SP_UNPACK_UNSUPPORTED);
  if (request->fault || encoding != SP_UNPACK_GZIP)
    return !request->fault && encoding == SP_UNPACK_IDENTITY;
  if (!sp_unpack_is_gzip(*out)) {
    otlp_error(response, 400, "Failed to read request body");
    return false;
  }
  if (sp_unpack_gzip(*out, unpacked, SP_OTLP_BYTES_MAX, &end)) {
    otlp_error(response, 503, "out of memory");
    return false;
  }
  *out = sp_view_of(unpacked->data, unpacked->size);
  if (end == SP_UNPACK_LARGE)
    otlp_error(response, 413,
               "uncompressed profile payload size exceeds limit of 32 MiB");
  else if (end != SP_UNPACK_WHOLE)
    otlp_error(response, 400, "failed to read gzip-compressed request body");
  return end == SP_UNPACK_WHOLE;
}

static bool otlp_is_json(const sp_http_request *request, bool *known) {
  const char *type = sp_http_header(request, "Content-Type");
  const bool is_json = sp_http_is_type(type, "application/json");

  *known = is_json || sp_http_is_type(type, "application/x-protobuf") ||
           sp_http_is_type(type, "application/protobuf");
  return is_json;
}

static void otlp_answer(otlp_work *work, sp_view body, bool is_json,
                        sp_http_response *response) {
  const sp_json_rules rules = {.refuse_unknown = true};
  spanprof_status st = SPANPROF_OK;
  sp_buffer wire;

  sp_buffer_init(&wire, work->arena.mem);
  if (is_json) {
    sp_upload_enter(&work->upload);
    st = sp_json_wire(body, sp_otlp_json_profiles, &rules, &wire,
                      &work->refusal);
    sp_upload_leave(&work->upload);
    body = sp_view_of(wire.data, wire.size);
  }
  if (!st)
    st = otlp_receive(work, body);
  st = sp_upload_explain(&work->upload, &work->refusal, st);
  if (st)
    otlp_refuse(response, &work->refusal, st);
  else
    sp_http_answer(response, 200, "application/x-protobuf", "");
  sp_buffer_dispose(&wire);
}

static void otlp_handle(sp_serve *serve, const sp_http_request *request,
                        sp_http_response *response) {
  const char *type = sp_http_header(request, "Content-Type");
  otlp_work work = {.resources = 0};
  const sp_mem *mem = &work.upload.mem;
  sp_buffer unpacked;
  bool known, is_json = otlp_is_json(request, &known);
  sp_view body;

  sp_http_set(response, "Vary", "Accept-Encoding");
  sp_upload_begin(&work.upload, serve);
  sp_buffer_init(&unpacked, mem);
  if (!known) {
    sp_buffer_format(&unpacked, "Unsupported Content-Type: %s",
                     type ? type : "");
    otlp_error(response, 415, unpacked.data ? unpacked.data : "");
    sp_buffer_dispose(&unpacked);
    return;
  }
  sp_batch_init(&work.batch, &work.upload);
  sp_refusal_init(&work.refusal, &sp_mem_default);
  sp_series_labels_init(&work.shared, mem);
  sp_arena_init(&work.arena, mem, SIZE_MAX);
  sp_arena_init(&work.scratch, mem, SIZE_MAX);
  if (otlp_body(request, &unpacked, &body, response))
    otlp_answer(&work, body, is_json, response);
  sp_series_labels_dispose(&work.shared);
  sp_arena_dispose(&work.scratch);
  sp_arena_dispose(&work.arena);
  sp_refusal_dispose(&work.refusal);
  sp_batch_dispose(&work.batch);
  sp_buffer_dispose(&unpacked);
  sp_upload_end(&work.upload);
}

void sp_otlp_handle(void *data, const sp_http_request *request,
                    sp_http_response *response) {
  otlp_handle(data, request, response);
  if (response->status >= 400)
    sp_refusal_log(data, "/v1development/profiles", response->body.data);
}
