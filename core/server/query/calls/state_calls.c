#include <string.h>

#include "query_calls.h"

#define SETTINGS_KIND "settings"
#define SETTINGS_MAX  1000
/* Largest size of all settings together, which is limited because settings
 * never expire. */
#define SETTINGS_BYTES_MAX ((size_t)16 << 20)

spanprof_status sp_call_profile_stats(sp_query *query,
                                      const sp_query_request *request,
                                      sp_reply *reply) {
  sp_store_stats stats;
  spanprof_status st = sp_store_get_stats(query->serve->store, &stats);

  (void)request;
  if (st)
    return st;
  sp_reply_bool(reply, 1, "dataIngested", stats.newest_ns != 0);
  sp_reply_int(reply, 2, "oldestProfileTime", stats.oldest_ns / 1000000);
  sp_reply_int(reply, 3, "newestProfileTime", stats.newest_ns / 1000000);
  return SPANPROF_OK;
}

spanprof_status sp_call_version(sp_query *query,
                                const sp_query_request *request,
                                sp_reply *reply) {
  (void)query;
  (void)request;
  sp_reply_int(reply, 1, "QuerierAPI", 1);
  return SPANPROF_OK;
}

spanprof_status sp_call_feature_flags(sp_query *query,
                                      const sp_query_request *request,
                                      sp_reply *reply) {
  static const struct {
    const char *name;
    bool enabled;
    const char *description;
    const char *url;
  } flags[] = {
      {"pyroscopeRuler", false,
       "Supports the Pyroscope ruler, which exports Prometheus metrics from "
       "Profiling Data.",
       ""},
      {"pyroscopeRulerFunctions", false,
       "Enables function support for the Pyroscope ruler, which allows to "
       "export resource usage on a per function level.",
       ""},
      {"utf8LabelNames", false,
       "Supports UTF-8 label names for Pyroscope read/write APIs.", ""},
      {"v2StorageLayer", true, "v2 storage layer",
       "https://github.com/grafana/pyroscope/blob/main/pkg/pyroscope/"
       "PYROSCOPE_V2.md"},
  };
  size_t i;

  (void)query;
  (void)request;
  sp_reply_list(reply, "featureFlags");
  for (i = 0; i < SP_COUNT_OF(flags); i++) {
    sp_reply_item(reply, 1);
    sp_reply_text(reply, 1, "name", flags[i].name);
    sp_reply_bool(reply, 2, "enabled", flags[i].enabled);
    sp_reply_text(reply, 3, "description", flags[i].description);
    sp_reply_text(reply, 4, "documentationUrl", flags[i].url);
    sp_reply_close(reply);
  }
  sp_reply_list_end(reply);
  return SPANPROF_OK;
}

static void setting_put(sp_reply *reply, const char *name, const char *value,
                        int64_t modified_ms) {
  sp_reply_text(reply, 1, "name", name);
  sp_reply_text(reply, 2, "value", value);
  sp_reply_int(reply, 3, "modifiedAt", modified_ms);
  sp_reply_close(reply);
}

typedef struct settings_listing {
  sp_query *query;
  sp_reply *reply;
  size_t count;
} settings_listing;

static bool settings_list(void *data, const sp_store_document *document) {
  settings_listing *listing = data;
  const char *value =
      sp_arena_text(&listing->query->arena, document->bytes, document->size);

  if (!value)
    return true;
  if (listing->count++ == 0)
    sp_reply_list(listing->reply, "settings");
  sp_reply_item(listing->reply, 1);
  setting_put(listing->reply, document->key, value, document->time_ms);
  return true;
}

spanprof_status sp_call_settings_get(sp_query *query,
                                     const sp_query_request *request,
                                     sp_reply *reply) {
  settings_listing listing = {.query = query, .reply = reply};
  spanprof_status st =
      sp_store_documents(query->serve->store, SETTINGS_KIND, NULL, INT64_MIN,
                         INT64_MAX, settings_list, &listing);

  (void)request;
  if (listing.count > 0)
    sp_reply_list_end(reply);
  return st;
}

typedef struct settings_usage {
  const char *name; /* the setting to write */
  int64_t modified_ms;
  size_t count; /* number of other settings */
  size_t bytes;
} settings_usage;

static bool settings_measure(void *data, const sp_store_document *document) {
  settings_usage *usage = data;

  if (strcmp(document->key, usage->name) == 0) {
    usage->modified_ms = document->time_ms;
  } else {
    usage->count++;
    usage->bytes += document->size;
  }
  return true;
}

spanprof_status sp_call_settings_set(sp_query *query,
                                     const sp_query_request *request,
                                     sp_reply *reply) {
  settings_usage found = {.name = request->name, .modified_ms = INT64_MIN};
  const char *value = request->value ? request->value : "";
  const int64_t modified_ms =
      request->modified_ms > 0
          ? request->modified_ms
          : (int64_t)(sp_clock_unix_ns(query->serve->clock) / SP_NS_PER_MS);
  spanprof_status st;

  if (!request->has_setting)
    return sp_query_invalid(query, "no setting values provided");
  if (!request->name)
    return sp_query_invalid(query, "no setting name provided");
  st = sp_store_documents(query->serve->store, SETTINGS_KIND, NULL, INT64_MIN,
                          INT64_MAX, settings_measure, &found);
  if (!st && found.modified_ms > modified_ms)
    st = sp_query_refuse(&query->fault, SP_CODE_EXISTS,
                         "failed to update %s: newer update already written",
                         request->name);
  if (!st && (found.count >= SETTINGS_MAX ||
              found.bytes + strlen(value) > SETTINGS_BYTES_MAX))
    st =
        sp_query_refuse(&query->fault, SP_CODE_EXHAUSTED,
                        "at most %d settings of %zu bytes in total are stored: "
                        "delete some",
                        SETTINGS_MAX, SETTINGS_BYTES_MAX);
  if (!st)
    st = sp_store_put_document(query->serve->store,
                               &(sp_store_document){.kind = SETTINGS_KIND,
                                                    .key = request->name,
                                                    .time_ms = modified_ms,
                                                    .bytes = value,
                                                    .size = strlen(value)});
  if (st)
    return st;
  sp_reply_open(reply, 1, "setting");
  setting_put(reply, request->name, value, modified_ms);
  return SPANPROF_OK;
}

spanprof_status sp_call_settings_delete(sp_query *query,
                                        const sp_query_request *request,
                                        sp_reply *reply) {
  (void)reply;
  if (!request->name)
    return sp_query_invalid(query, "no setting name provided");
  return sp_store_remove_document(query->serve->store, SETTINGS_KIND,
                                  request->name);
}

/* Answer with a reason that profilecli recognises. */
spanprof_status sp_call_no_debuginfo(sp_query *query,
                                     const sp_query_request *request,
                                     sp_reply *reply) {
  (void)query;
  (void)request;
  sp_reply_text(reply, 2, "reason", "DebugInfo upload disabled");
  return SPANPROF_OK;
}

spanprof_status sp_call_no_github(sp_query *query,
                                  const sp_query_request *request,
                                  sp_reply *reply) {
  (void)request;
  (void)reply;
  return sp_query_refuse(&query->fault, SP_CODE_UNIMPLEMENTED,
                         "GitHub integration is not configured");
}
