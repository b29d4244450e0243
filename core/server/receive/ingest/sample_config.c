#include "sample_config.h"

#include <jansson.h>

#include "server/receive/wire/json_wire.h"

struct sp_sample_config {
  const sp_mem *mem;
  void *placeholder; /* accounts for the memory of jansson's values
                      * (json_wire.h) */
  json_t *root;
};

/* Display names of the types of Go, for clients that send no configuration. */
static const char *const config_default[][2] = {{"samples", "cpu"},
                                                {"goroutine", "goroutines"},
                                                {"contentions", "mutex_count"},
                                                {"delay", "mutex_duration"}};

/* The known settings of a type. Unknown settings may have any kind of value. */
static const struct {
  const char *name;
  bool is_flag; /* the value is true or false; otherwise it is a text */
} config_settings[] = {{"units", false},
                       {"display-name", false},
                       {"aggregation", false},
                       {"cumulative", true},
                       {"sampled", true}};

/* Returns whether a value has the right kind. JSON's null counts as a missing
 * setting. */
static bool config_is_kind(const json_t *value, bool is_flag) {
  return json_is_null(value) ||
         (is_flag ? json_is_boolean(value) : json_is_string(value));
}

static spanprof_status config_check_type(const char *type,
                                         const json_t *settings,
                                         sp_refusal *refusal) {
  size_t i;

  if (!json_is_object(settings) && !json_is_null(settings))
    return sp_refuse(refusal, SP_REFUSAL_BROKEN,
                     "failed to parse pprof /ingest multipart form: the "
                     "settings of sample type %s are not a JSON object",
                     type);
  for (i = 0; i < SP_COUNT_OF(config_settings); i++) {
    const json_t *value = json_object_get(settings, config_settings[i].name);

    if (value && !config_is_kind(value, config_settings[i].is_flag))
      return sp_refuse(refusal, SP_REFUSAL_BROKEN,
                       "failed to parse pprof /ingest multipart form: %s of "
                       "sample type %s is not a %s",
                       config_settings[i].name, type,
                       config_settings[i].is_flag ? "boolean" : "string");
  }
  return SPANPROF_OK;
}

static spanprof_status config_check(json_t *root, sp_refusal *refusal) {
  const char *type;
  json_t *settings;
  spanprof_status st = SPANPROF_OK;

  json_object_foreach(root, type, settings) {
    if (!st)
      st = config_check_type(type, settings, refusal);
  }
  return st;
}

spanprof_status sp_sample_config_read(sp_sample_config **out, const sp_mem *mem,
                                      sp_view text, sp_refusal *refusal) {
  void *placeholder;
  spanprof_status st = sp_json_bounded(text, mem, &placeholder, refusal);
  sp_sample_config *config;
  json_error_t error;

  *out = NULL;
  if (st)
    return st;
  config = sp_mem_zero(mem, sizeof *config);
  if (!config) {
    sp_mem_free(mem, placeholder);
    return SPANPROF_ERR_NOMEM;
  }
  config->mem = mem;
  config->placeholder = placeholder;
  config->root = json_loadb(text.bytes ? text.bytes : "", text.size,
                            JSON_ALLOW_NUL | JSON_DECODE_ANY, &error);
  if (!json_is_object(config->root) && !json_is_null(config->root))
    st = sp_refuse(refusal, SP_REFUSAL_BROKEN,
                   "failed to parse pprof /ingest multipart form: "
                   "sample_type_config is not a JSON object");
  else
    st = config_check(config->root, refusal);
  if (st)
    sp_sample_config_free(config);
  else
    *out = config;
  return st;
}

void sp_sample_config_free(sp_sample_config *config) {
  if (!config)
    return;
  json_decref(config->root);
  sp_mem_free(config->mem, config->placeholder);
  sp_mem_free(config->mem, config);
}

bool sp_sample_config_has(const sp_sample_config *config, const char *type) {
  return config && json_is_object(json_object_get(config->root, type));
}

/* Returns the display name of a type, or its own name if it has no display
 * name. */
static sp_view config_display(const sp_sample_config *config, sp_view type) {
  const json_t *name;
  size_t i;

  if (!config) {
    for (i = 0; i < SP_COUNT_OF(config_default); i++)
      if (sp_view_is(type, config_default[i][0]))
        return sp_view_text(config_default[i][1]);
    return type;
  }
  name = json_object_get(json_object_getn(config->root, type.bytes, type.size),
                         "display-name");
  return json_string_length(name)
             ? sp_view_of(json_string_value(name), json_string_length(name))
             : type;
}

/* Returns the metric that has this display name, or NULL. */
static const char *config_metric(sp_view name) {
  if (sp_view_contains(name, "cpu"))
    return "process_cpu";
  if (sp_view_contains(name, "alloc_") || sp_view_contains(name, "inuse_") ||
      sp_view_is(name, "space") || sp_view_is(name, "objects"))
    return "memory";
  if (sp_view_contains(name, "mutex_"))
    return "mutex";
  if (sp_view_contains(name, "block_"))
    return "block";
  return sp_view_contains(name, "goroutines") ? "goroutines" : NULL;
}

sp_view sp_sample_config_metric(const sp_sample_config *config,
                                const sp_raw_profile *profile) {
  sp_view last = sp_view_of("", 0);
  const char *metric;
  size_t i;

  for (i = 0; i < profile->type_count; i++)
    if (sp_view_is(sp_raw_text(profile, profile->types[i].type), "wall"))
      return sp_view_text("wall");
  for (i = 0; i < profile->type_count; i++) {
    last = config_display(config, sp_raw_text(profile, profile->types[i].type));
    metric = config_metric(last);
    if (metric)
      return sp_view_text(metric);
  }
  return last;
}
