#include "pyroscope.h"

#include <push.pb-c.h>
#include <stdio.h>
#include <string.h>

#include "export/upload/gzip_store.h"
#include "util/memory/hash.h"
#include "util/text/ascii.h"

#define PYROSCOPE_PUSH_PATH "/push.v1.PusherService/Push"

/* Write a UUID of 36 characters (RFC 9562, 4 and 5.8), computed from the
 * profile's bytes, so that a retry sends the same UUID. */
static void pyroscope_uuid(const sp_encoded *part, char out[37]) {
  const uint64_t hash = sp_hash_bytes(part->bytes, part->size);
  uint64_t high = (hash & ~UINT64_C(0xf000)) | 0x8000;
  uint64_t low = sp_hash_mix(hash, part->size);

  low = (low & ~(UINT64_C(3) << 62)) | UINT64_C(1) << 63;

  snprintf(out, 37, "%08llx-%04llx-%04llx-%04llx-%012llx",
           (unsigned long long)(high >> 32),
           (unsigned long long)(high >> 16 & 0xffff),
           (unsigned long long)(high & 0xffff), (unsigned long long)(low >> 48),
           (unsigned long long)(low & UINT64_C(0xffffffffffff)));
}

static void pyroscope_pack(sp_buffer *out, Push__V1__LabelPair *pairs,
                           Push__V1__LabelPair **labels,
                           const sp_series *series, const sp_encoded *part) {
  Push__V1__PushRequest request = PUSH__V1__PUSH_REQUEST__INIT;
  Push__V1__RawProfileSeries one = PUSH__V1__RAW_PROFILE_SERIES__INIT;
  Push__V1__RawSample sample = PUSH__V1__RAW_SAMPLE__INIT;
  Push__V1__RawProfileSeries *all_series[] = {&one};
  Push__V1__RawSample *all_samples[] = {&sample};
  const char *name = NULL, *value = NULL;
  uint8_t *message;
  size_t size;
  char uuid[37];

  while (sp_series_next(series, &name, &value)) {
    Push__V1__LabelPair *pair = &pairs[one.n_labels];

    push__v1__label_pair__init(pair);
    pair->name = (char *)name;
    pair->value = (char *)value;
    labels[one.n_labels++] = pair;
  }
  pyroscope_uuid(part, uuid);
  sample.raw_profile.data = part->bytes;
  sample.raw_profile.len = part->size;
  sample.id = uuid;
  one.labels = labels;
  one.samples = all_samples;
  one.n_samples = 1;
  request.series = all_series;
  request.n_series = 1;

  size = push__v1__push_request__get_packed_size(&request);
  message = sp_mem_new(out->mem, size);
  if (message) {
    push__v1__push_request__pack(&request, message);
    sp_gzip_store(out, message, size);
  } else {
    out->failed = true;
  }
  sp_mem_free(out->mem, message);
}

static void push_build(sp_pyroscope_request *request,
                       const sp_settings *settings, const sp_series *series,
                       const sp_encoded *part) {
  const sp_mem *mem = request->body.mem;
  Push__V1__LabelPair *pairs = sp_mem_new(mem, series->count * sizeof *pairs);
  Push__V1__LabelPair **labels =
      sp_mem_new(mem, series->count * sizeof *labels);

  sp_buffer_format(&request->url, "%s" PYROSCOPE_PUSH_PATH,
                   settings->server_address);
  if (pairs && labels)
    pyroscope_pack(&request->body, pairs, labels, series, part);
  else
    request->body.failed = true;
  sp_mem_free(mem, labels);
  sp_mem_free(mem, pairs);
  request->http.content_type = SP_PYROSCOPE_PUSH_TYPE;
  request->http.accepted_type = SP_PYROSCOPE_PUSH_TYPE;
  request->http.content_encoding = "gzip";
  request->http.body = request->body.data;
  request->http.size = request->body.size;
}

/* Append the text. `_` replaces characters that /ingest refuses or uses as
 * syntax. */
static void ingest_text(sp_buffer *out, const char *text,
                        bool (*allowed)(char c)) {
  for (; *text; text++)
    sp_buffer_append(out, allowed(*text) ? text : "_", 1);
}

/* The next functions list the characters that names and values may have in
 * /ingest, which does not support quotes or escapes (Pyroscope's package
 * model/labelset). */
static bool ingest_name_character(char c) {
  return sp_ascii_word(c) || c == '_' || c == '.';
}

static bool ingest_app_character(char c) {
  return ingest_name_character(c) || c == '-' || c == '/';
}

static bool ingest_value_character(char c) {
  return c != ',' && c != '}';
}

/* Write app{name=value,…}. The server drops labels whose name begins with __,
 * so they are not sent. The label service_name has the full name of the
 * application, because the name before the brace cannot have all characters. */
static void ingest_name(sp_buffer *out, const sp_series *series) {
  const char *name = NULL, *value = NULL;
  char before = '{';

  while (sp_series_next(series, &name, &value))
    if (strcmp(name, "service_name") == 0)
      ingest_text(out, value, ingest_app_character);
  name = NULL;
  while (sp_series_next(series, &name, &value)) {
    if (strncmp(name, "__", 2) == 0)
      continue;
    sp_buffer_append(out, &before, 1);
    ingest_text(out, name, ingest_name_character);
    sp_buffer_append(out, "=", 1);
    ingest_text(out, value, ingest_value_character);
    before = ',';
  }
  sp_buffer_append(out, "}", 1);
}

static void ingest_build(sp_pyroscope_request *request,
                         const sp_settings *settings, const sp_series *series,
                         const sp_encoded *part) {
  sp_buffer name;

  sp_buffer_init(&name, request->url.mem);
  ingest_name(&name, series);
  sp_buffer_format(&request->url, "%s/ingest?name=", settings->server_address);
  if (!name.failed)
    sp_buffer_form_encode(&request->url, name.data, name.size);
  request->url.failed |= name.failed;
  sp_buffer_dispose(&name);
  /* spyName is a name that the server does not know, because for rbspy, pyspy
   * and scripting the server changes function names. */
  sp_buffer_format(
      &request->url,
      "&from=%llu&until=%llu&format=pprof&spyName=spanprof&sampleRate=%u",
      (unsigned long long)part->time_ns,
      (unsigned long long)(part->time_ns + part->duration_ns),
      (unsigned)settings->sample_rate_hz);
  request->http.content_type = "application/octet-stream";
  request->http.body = part->bytes;
  request->http.size = part->size;
}

spanprof_status sp_pyroscope_request_init(sp_pyroscope_request *out,
                                          const sp_mem *mem,
                                          const sp_settings *settings,
                                          const sp_series *series,
                                          const sp_encoded *part) {
  memset(out, 0, sizeof *out);
  sp_buffer_init(&out->url, mem);
  sp_buffer_init(&out->body, mem);
  if (settings->protocol == SP_PROTOCOL_PUSH)
    push_build(out, settings, series, part);
  else
    ingest_build(out, settings, series, part);
  out->http.url = out->url.data;
  if (!out->url.failed && !out->body.failed)
    return SPANPROF_OK;
  sp_pyroscope_request_dispose(out);
  return SPANPROF_ERR_NOMEM;
}

void sp_pyroscope_request_dispose(sp_pyroscope_request *request) {
  sp_buffer_dispose(&request->url);
  sp_buffer_dispose(&request->body);
  memset(&request->http, 0, sizeof request->http);
}
