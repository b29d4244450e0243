#include "push.h"

#include "push_request.h"
#include "server/receive/profile/batch.h"
#include "server/receive/wire/connect.h"

/* The state of one request. */
typedef struct push_work {
  sp_upload upload;
  sp_batch batch;
  sp_refusal refusal; /* the refusal of the first refused profile */
  size_t seen;
} push_work;

static spanprof_status push_profile(push_work *work, sp_series_labels *labels,
                                    sp_view packed, sp_view id, sp_arena *arena,
                                    sp_buffer *unpacked) {
  sp_raw_profile profile;
  spanprof_status st;
  sp_view bytes;
  bool large;

  st = sp_raw_unpack(packed, unpacked,
                     work->batch.serve->options->limits->profile_bytes, &bytes,
                     &large, &work->refusal);
  if (!st && large)
    st = sp_refuse(&work->refusal, SP_REFUSAL_INVALID,
                   "uncompressed profile payload size exceeds limit of 4.2 MB");
  if (!st)
    st = sp_raw_read(&profile, arena, bytes, &work->refusal);
  if (st)
    sp_raw_explain(packed, &work->refusal);
  if (!st) {
    profile.upload_id = sp_raw_upload_id(id);
    return sp_batch_add(&work->batch, &profile, labels, &work->refusal);
  }
  sp_count(&work->batch.serve->counters.discarded_profiles, 1);
  sp_count(&work->batch.serve->counters.discarded_bytes, packed.size);
  return st;
}

/* Read one profile. If it is refused, the other profiles are stored
 * nevertheless. */
static spanprof_status push_visit(void *data, sp_series_labels *labels,
                                  sp_view packed, sp_view id) {
  push_work *work = data;
  const sp_mem *mem = &work->upload.mem;
  spanprof_status st;
  sp_buffer unpacked;
  sp_arena arena;

  work->seen++;
  sp_buffer_init(&unpacked, mem);
  sp_arena_init(&arena, mem, SIZE_MAX);
  sp_upload_enter(&work->upload);
  st = push_profile(work, labels, packed, id, &arena, &unpacked);
  sp_upload_leave(&work->upload);
  if (!st)
    sp_count(&work->batch.serve->counters.compressed_bytes, packed.size);
  sp_arena_dispose(&arena);
  sp_buffer_dispose(&unpacked);
  if (st && st != SPANPROF_ERR_FORMAT)
    return st;
  return sp_batch_put_if_large(&work->batch, &work->refusal);
}

static void push_refuse(sp_http_response *response, const sp_refusal *refusal,
                        spanprof_status st) {
  const char *text = sp_refusal_text(refusal);

  if (refusal->kind == SP_REFUSAL_LARGE)
    sp_connect_refuse_large(response, text);
  else if (refusal->kind == SP_REFUSAL_RATE)
    sp_connect_refuse(response, "resource_exhausted", text);
  else if (refusal->kind == SP_REFUSAL_STORE)
    sp_connect_refuse(response, "unavailable", text);
  else if (refusal->kind != SP_REFUSAL_NONE)
    sp_connect_refuse(response, "invalid_argument", text);
  else
    sp_connect_refuse(response, "unavailable", spanprof_status_text(st));
}

static spanprof_status push_receive(push_work *work, sp_view message) {
  spanprof_status st, put;

  st = sp_push_request_each(message, &work->upload.mem, push_visit, work,
                            &work->refusal);
  if (!st && !work->seen)
    st = sp_refuse(&work->refusal, SP_REFUSAL_INVALID, "no profiles received");
  put = sp_batch_put(&work->batch, &work->refusal);
  if (put)
    return put;
  st = sp_upload_explain(&work->upload, &work->refusal, st);
  return st || work->refusal.kind == SP_REFUSAL_NONE ? st : SPANPROF_ERR_FORMAT;
}

/* Refuse a malformed request. The prefix distinguishes it from a malformed
 * profile. */
static void push_decode_error(sp_http_response *response,
                              const sp_refusal *refusal) {
  sp_buffer text;

  sp_buffer_init(&text, response->body.mem);
  sp_buffer_format(&text, "unmarshal message: %s", sp_refusal_text(refusal));
  if (refusal->kind == SP_REFUSAL_LARGE)
    sp_connect_refuse_large(response, text.data ? text.data : "");
  else
    sp_connect_refuse(response, "invalid_argument", text.data ? text.data : "");
  sp_buffer_dispose(&text);
}

static bool push_json(push_work *work, sp_view *message, sp_buffer *wire,
                      sp_http_response *response) {
  sp_refusal refusal;
  spanprof_status st;

  sp_refusal_init(&refusal, &sp_mem_default);
  if (!message->size)
    st = sp_refuse(&refusal, SP_REFUSAL_BROKEN,
                   "zero-length payload is not a valid JSON object");
  else
    st = sp_push_request_json(*message, wire, &refusal);
  st = sp_upload_explain(&work->upload, &refusal, st);
  if (refusal.kind != SP_REFUSAL_NONE && refusal.kind != SP_REFUSAL_STORE)
    push_decode_error(response, &refusal);
  else if (st)
    push_refuse(response, &refusal, st);
  sp_refusal_dispose(&refusal);
  *message = sp_view_of(wire->data, wire->size);
  return !st;
}

static void push_handle(sp_serve *serve, const sp_http_request *request,
                        sp_http_response *response) {
  push_work work = {.seen = 0};
  sp_connect_envelope call;
  spanprof_status st;
  sp_buffer unpacked, wire;
  sp_view message;

  if (!sp_connect_open(request, &call, response))
    return;
  sp_upload_begin(&work.upload, serve);
  sp_buffer_init(&unpacked, &work.upload.mem);
  sp_buffer_init(&wire, &work.upload.mem);
  sp_batch_init(&work.batch, &work.upload);
  sp_refusal_init(&work.refusal, &sp_mem_default);
  if (!sp_connect_message(request, &call, &unpacked, &message, response)) {
    st = sp_upload_explain(&work.upload, &work.refusal, SPANPROF_OK);
    if (st)
      push_refuse(response, &work.refusal, st);
  } else if (!call.is_json || push_json(&work, &message, &wire, response)) {
    st = push_receive(&work, message);
    if (st)
      push_refuse(response, &work.refusal, st);
    else
      sp_connect_done(request, &call, response);
  }
  sp_refusal_dispose(&work.refusal);
  sp_batch_dispose(&work.batch);
  sp_buffer_dispose(&wire);
  sp_buffer_dispose(&unpacked);
  sp_upload_end(&work.upload);
}

void sp_push_handle(void *data, const sp_http_request *request,
                    sp_http_response *response) {
  push_handle(data, request, response);
  if (response->status >= 400)
    sp_refusal_log(data, "/push.v1.PusherService/Push", response->body.data);
}
