/* Annotations: events such as deployments, which scripts report. They are
 * documents in the store, which deletes them together with the profiles of the
 * same time. */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "api_call.h"

#define ANNOTATION_KIND            "annotation"
#define ANNOTATION_TEXT_MAX        4096 /* bytes */
#define ANNOTATION_APPLICATION_MAX 1024
#define ANNOTATION_COUNT_MAX       10000 /* annotations in the store */
#define ANNOTATION_TIME_MAX_MS     253402300799999 /* the year 9999 */
#define ANNOTATION_ID_SIZE         17

typedef struct annotation {
  const char *id;          /* NULL: a new one */
  const char *application; /* NULL: all applications */
  const char *text;
  int64_t time_ms;
} annotation;

static spanprof_status annotation_fault(sp_api *api) {
  sp_query_fault *fault = &api->query.fault;

  switch (api->query.http->fault) {
  case SP_HTTP_FAULT_NONE:
    return SPANPROF_OK;
  case SP_HTTP_FAULT_CUT:
    return sp_query_invalid(&api->query, "the request ended too early");
  case SP_HTTP_FAULT_TOO_LARGE:
    return sp_query_invalid(&api->query,
                            "the request is too large: the text "
                            "of an annotation has at most %d "
                            "bytes",
                            ANNOTATION_TEXT_MAX);
  case SP_HTTP_FAULT_BUSY:
    break;
  }
  return sp_query_refuse(
      fault, SP_CODE_UNAVAILABLE,
      "the server has no memory for the request at the moment: try "
      "again");
}

static spanprof_status annotation_text(sp_api *api, const char *name,
                                       const json_t *value, size_t bytes_max,
                                       const char **out) {
  if (!json_is_string(value) || json_string_length(value) == 0)
    return sp_query_invalid(&api->query, "%s must be a text that is not empty",
                            name);
  if (json_string_length(value) > bytes_max)
    return sp_query_invalid(&api->query,
                            "%s has %zu bytes, more than the maximum of %zu",
                            name, json_string_length(value), bytes_max);
  *out = json_string_value(value);
  return SPANPROF_OK;
}

static spanprof_status annotation_id(sp_api *api, const json_t *value,
                                     const char **out) {
  const char *id = json_string_value(value);

  if (!id || strlen(id) != ANNOTATION_ID_SIZE - 1 ||
      strspn(id, "0123456789abcdef") != ANNOTATION_ID_SIZE - 1)
    return sp_query_invalid(&api->query,
                            "id must have 16 hexadecimal digits in lower case");
  *out = id;
  return SPANPROF_OK;
}

static spanprof_status annotation_member(sp_api *api, const char *name,
                                         const json_t *value, annotation *out) {
  if (strcmp(name, "id") == 0)
    return annotation_id(api, value, &out->id);
  if (strcmp(name, "text") == 0)
    return annotation_text(api, name, value, ANNOTATION_TEXT_MAX, &out->text);
  if (strcmp(name, "application") == 0)
    return json_is_null(value)
               ? SPANPROF_OK
               : annotation_text(api, name, value, ANNOTATION_APPLICATION_MAX,
                                 &out->application);
  if (strcmp(name, "timeMs") != 0)
    return sp_query_invalid(&api->query,
                            "unknown member \"%.100s\": an annotation has "
                            "id, timeMs, text and application",
                            name);
  out->time_ms = json_integer_value(value);
  if (!json_is_integer(value) || out->time_ms < 0 ||
      out->time_ms > ANNOTATION_TIME_MAX_MS)
    return sp_query_invalid(
        &api->query,
        "timeMs must be a whole number of milliseconds since 1970");
  return SPANPROF_OK;
}

/* Read an annotation from JSON. Its texts belong to `root`. */
static spanprof_status annotation_read(sp_api *api, json_t *root,
                                       annotation *out) {
  const char *name;
  json_t *value;
  spanprof_status st;

  if (!json_is_object(root))
    return sp_query_invalid(&api->query, "an annotation must be a JSON object, "
                                         "such as {\"text\":\"deployed 1.4\"}");
  json_object_foreach(root, name, value) {
    st = annotation_member(api, name, value, out);
    if (st)
      return st;
  }
  return out->text
             ? SPANPROF_OK
             : sp_query_invalid(&api->query, "an annotation needs a text, such "
                                             "as {\"text\":\"deployed 1.4\"}");
}

static bool annotation_count(void *data, const sp_store_document *document) {
  size_t *count = data;

  (void)document;
  return ++*count < ANNOTATION_COUNT_MAX;
}

static spanprof_status annotation_limit(sp_api *api) {
  size_t count = 0;
  spanprof_status st =
      sp_store_documents(api->query.serve->store, ANNOTATION_KIND, NULL,
                         INT64_MIN, INT64_MAX, annotation_count, &count);

  if (!st && count >= ANNOTATION_COUNT_MAX)
    st = sp_query_refuse(&api->query.fault, SP_CODE_EXHAUSTED,
                         "there are already %d annotations, the maximum: "
                         "remove some, or wait until they are older than the "
                         "retention",
                         ANNOTATION_COUNT_MAX);
  return st;
}

/* Store an annotation. The document's bytes are the application, a NUL and the
 * text. */
static spanprof_status annotation_store(sp_api *api, const annotation *given) {
  const char *application = given->application ? given->application : "";
  sp_store_document document = {
      .kind = ANNOTATION_KIND, .key = given->id, .time_ms = given->time_ms};
  sp_buffer bytes;
  spanprof_status st;

  sp_buffer_init(&bytes, api->query.mem);
  sp_buffer_append(&bytes, application, strlen(application) + 1);
  sp_buffer_text(&bytes, given->text);
  st = sp_buffer_status(&bytes);
  document.bytes = bytes.data;
  document.size = bytes.size;
  if (!st)
    st = sp_store_put_document(api->query.serve->store, &document);
  sp_buffer_dispose(&bytes);
  return st;
}

static spanprof_status annotation_new_id(char id[ANNOTATION_ID_SIZE]) {
  uint64_t number;

  if (getrandom(&number, sizeof number, 0) != (ssize_t)sizeof number)
    return SPANPROF_ERR_SYSTEM;
  snprintf(id, ANNOTATION_ID_SIZE, "%016" PRIx64, number);
  return SPANPROF_OK;
}

static void annotation_put(sp_json *json, const annotation *shown) {
  sp_json_open(json, '{');
  sp_json_member_text(json, "id", shown->id);
  sp_json_member_int(json, "timeMs", shown->time_ms);
  sp_json_member_text(json, "text", shown->text);
  sp_json_key(json, "application");
  if (shown->application)
    sp_json_text(json, shown->application);
  else
    sp_json_null(json);
  sp_json_close(json, '}');
}

static spanprof_status annotation_add(sp_api *api) {
  const sp_http_request *http = api->query.http;
  annotation given = {
      .time_ms =
          (int64_t)(sp_clock_unix_ns(api->query.serve->clock) / SP_NS_PER_MS)};
  char id[ANNOTATION_ID_SIZE];
  json_t *root = NULL;
  json_error_t error;
  spanprof_status st = annotation_fault(api);

  if (st)
    return st;
  root = json_loadb(http->body ? http->body : "", http->body_size,
                    JSON_REJECT_DUPLICATES, &error);
  st = root ? annotation_read(api, root, &given)
            : sp_query_invalid(&api->query,
                               "the annotation is not valid JSON: %s",
                               error.text);
  if (!st)
    st = annotation_limit(api);
  if (!st && !given.id) {
    st = annotation_new_id(id);
    given.id = id;
  }
  if (!st)
    st = annotation_store(api, &given);
  if (!st) {
    api->response->status = 201;
    annotation_put(&api->json, &given);
  }
  json_decref(root);
  return st;
}

typedef struct annotation_listing {
  sp_api *api;
  const char *application; /* NULL: all applications */
  spanprof_status st;
} annotation_listing;

static bool annotation_list(void *data, const sp_store_document *document) {
  annotation_listing *listing = data;
  sp_arena *arena = &listing->api->query.arena;
  const char *application = document->bytes;
  const size_t before = strnlen(application, document->size);
  annotation shown = {.id = document->key, .time_ms = document->time_ms};

  if (before == document->size) {
    listing->st = SPANPROF_ERR_FORMAT;
    return false;
  }
  if (*application && listing->application &&
      strcmp(application, listing->application) != 0)
    return true;
  shown.application = *application ? application : NULL;
  shown.text = sp_arena_text(arena, application + before + 1,
                             document->size - before - 1);
  if (!shown.text) {
    listing->st = arena->st;
    return false;
  }
  annotation_put(&listing->api->json, &shown);
  return true;
}

static spanprof_status annotation_list_all(sp_api *api) {
  annotation_listing listing = {
      .api = api, .application = sp_api_parameter(api, "application")};
  int64_t from = 0, until = 0;
  spanprof_status st = sp_api_range(api, &from, &until);

  if (st)
    return st;
  sp_json_open(&api->json, '{');
  sp_json_member_open(&api->json, "annotations", '[');
  st = sp_store_documents(api->query.serve->store, ANNOTATION_KIND, NULL, from,
                          until, annotation_list, &listing);
  sp_json_close(&api->json, ']');
  sp_json_close(&api->json, '}');
  return st ? st : listing.st;
}

spanprof_status sp_api_annotations(sp_api *api) {
  return strcmp(api->query.http->method, "POST") == 0
             ? annotation_add(api)
             : annotation_list_all(api);
}

static bool annotation_found(void *data, const sp_store_document *document) {
  bool *found = data;

  (void)document;
  *found = true;
  return false;
}

spanprof_status sp_api_annotation_remove(sp_api *api) {
  struct sp_store *store = api->query.serve->store;
  const char *id = api->query.http->path_suffix;
  bool found = false;
  spanprof_status st = sp_store_documents(store, ANNOTATION_KIND, id, INT64_MIN,
                                          INT64_MAX, annotation_found, &found);

  if (!st && !found)
    return sp_query_refuse(&api->query.fault, SP_CODE_NOT_FOUND,
                           "there is no annotation \"%.100s\"", id);
  if (!st)
    st = sp_store_remove_document(store, ANNOTATION_KIND, id);
  api->response->status = 204;
  return st;
}
