/* Protocol: any thread adds spans to the batch; it holds `lock` meanwhile. The
 * sender's thread takes the spans out of the batch, once a second or when the
 * batch is half full, and sends them without holding `lock`. Spans that arrive
 * while the batch is full are dropped. */
#include "trace_sender.h"

#include <curl/curl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TRACE_BATCH_SPANS 2048

struct trace_sender {
  char url[1024];
  const char *service;
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t wake;
  /* Guarded by `lock`. */
  trace_span *batch;
  size_t count;
  size_t dropped;
  int stopping;
};

static void json_text(FILE *out, const char *text) {
  for (; *text; text++) {
    const unsigned char byte = (unsigned char)*text;

    if (byte == '"' || byte == '\\')
      fprintf(out, "\\%c", byte);
    else if (byte < 0x20)
      fprintf(out, "\\u%04x", byte);
    else
      fputc(byte, out);
  }
}

static void json_attribute(FILE *out, const char *before, const char *key,
                           const char *value) {
  fprintf(out, "%s{\"key\":\"%s\",\"value\":{\"stringValue\":\"", before, key);
  json_text(out, value);
  fputs("\"}}", out);
}

static void json_hex(FILE *out, const char *key, const uint8_t *bytes,
                     size_t size) {
  size_t i;

  fprintf(out, "\"%s\":\"", key);
  for (i = 0; i < size; i++)
    fprintf(out, "%02x", bytes[i]);
  fputs("\",", out);
}

static void json_span(FILE *out, const trace_span *span) {
  fputc('{', out);
  json_hex(out, "traceId", span->trace_id, sizeof span->trace_id);
  json_hex(out, "spanId", span->span_id, sizeof span->span_id);
  fputs("\"name\":\"", out);
  json_text(out, span->name);
  fprintf(out,
          "\",\"kind\":1,\"startTimeUnixNano\":\"%lld\","
          "\"endTimeUnixNano\":\"%lld\",\"attributes\":[",
          (long long)span->start_ns, (long long)span->end_ns);
  json_attribute(out, "", "file.path", span->path);
  if (*span->profile_id)
    json_attribute(out, ",", "pyroscope.profile.id", span->profile_id);
  fputs("]}", out);
}

/* Returns the body of a request with these spans, or NULL if memory runs out.
 * The caller frees the body. */
static char *sender_body(const trace_sender *sender, const trace_span *spans,
                         size_t count) {
  char *body = NULL;
  size_t size, i;
  FILE *out = open_memstream(&body, &size);

  if (!out)
    return NULL;
  fputs("{\"resourceSpans\":[{\"resource\":{\"attributes\":[", out);
  json_attribute(out, "", "service.name", sender->service);
  fputs("]},\"scopeSpans\":[{\"scope\":{\"name\":\"embed\"},\"spans\":[", out);
  for (i = 0; i < count; i++) {
    if (i > 0)
      fputc(',', out);
    json_span(out, &spans[i]);
  }
  fputs("]}]}]}", out);
  if (fclose(out) == 0)
    return body;
  free(body);
  return NULL;
}

static size_t sender_ignore(void *bytes, size_t size, size_t count,
                            void *data) {
  (void)bytes;
  (void)data;
  return size * count;
}

/* Send spans. Returns 0 if the server accepted them. */
static int sender_send(CURL *curl, const trace_sender *sender,
                       const trace_span *spans, size_t count) {
  struct curl_slist *headers =
      curl_slist_append(NULL, "Content-Type: application/json");
  char *body = sender_body(sender, spans, count);
  long status = 0;

  if (body && headers) {
    curl_easy_setopt(curl, CURLOPT_URL, sender->url);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, sender_ignore);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, 5000L);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    if (curl_easy_perform(curl) == CURLE_OK)
      curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
  }
  curl_slist_free_all(headers);
  free(body);
  return status == 200 ? 0 : -1;
}

/* Wait until there are spans to send or the sender stops. Moves the spans of
 * the batch to `spans` and returns their number. */
static size_t sender_detach(trace_sender *sender, trace_span *spans,
                            int *stopping) {
  struct timespec second;
  size_t count;

  clock_gettime(CLOCK_REALTIME, &second);
  second.tv_sec++;
  pthread_mutex_lock(&sender->lock);
  while (!sender->stopping && sender->count < TRACE_BATCH_SPANS / 2)
    if (pthread_cond_timedwait(&sender->wake, &sender->lock, &second) != 0)
      break;
  count = sender->count;
  memcpy(spans, sender->batch, count * sizeof *spans);
  sender->count = 0;
  *stopping = sender->stopping;
  pthread_mutex_unlock(&sender->lock);
  return count;
}

static void *sender_thread(void *data) {
  trace_sender *sender = data;
  trace_span *spans = malloc(TRACE_BATCH_SPANS * sizeof *spans);
  CURL *curl = curl_easy_init();
  int stopping = 0;

  while (spans && curl && !stopping) {
    size_t count = sender_detach(sender, spans, &stopping);

    if (count > 0 && sender_send(curl, sender, spans, count) != 0) {
      pthread_mutex_lock(&sender->lock);
      sender->dropped += count;
      pthread_mutex_unlock(&sender->lock);
    }
  }
  curl_easy_cleanup(curl);
  free(spans);
  return NULL;
}

trace_sender *trace_sender_start(const char *address, const char *service) {
  trace_sender *sender = calloc(1, sizeof *sender);
  int size;

  if (!sender)
    goto failed;
  size = snprintf(sender->url, sizeof sender->url, "%s/v1/traces", address);
  sender->service = service;
  sender->batch = malloc(TRACE_BATCH_SPANS * sizeof *sender->batch);
  pthread_mutex_init(&sender->lock, NULL);
  pthread_cond_init(&sender->wake, NULL);
  curl_global_init(CURL_GLOBAL_DEFAULT);
  if (sender->batch && size > 0 && (size_t)size < sizeof sender->url &&
      pthread_create(&sender->thread, NULL, sender_thread, sender) == 0)
    return sender;

failed:
  fprintf(stderr, "embed: spans are not sent: %s\n", address);
  if (sender)
    free(sender->batch);
  free(sender);
  return NULL;
}

void trace_sender_add(trace_sender *sender, const trace_span *span) {
  if (!sender)
    return;
  pthread_mutex_lock(&sender->lock);
  if (sender->count < TRACE_BATCH_SPANS)
    sender->batch[sender->count++] = *span;
  else
    sender->dropped++;
  if (sender->count == TRACE_BATCH_SPANS / 2)
    pthread_cond_signal(&sender->wake);
  pthread_mutex_unlock(&sender->lock);
}

void trace_sender_stop(trace_sender *sender) {
  if (!sender)
    return;
  pthread_mutex_lock(&sender->lock);
  sender->stopping = 1;
  pthread_cond_signal(&sender->wake);
  pthread_mutex_unlock(&sender->lock);
  pthread_join(sender->thread, NULL);
  if (sender->dropped > 0)
    fprintf(stderr, "embed: %zu spans were not sent\n", sender->dropped);
  pthread_cond_destroy(&sender->wake);
  pthread_mutex_destroy(&sender->lock);
  free(sender->batch);
  free(sender);
}
