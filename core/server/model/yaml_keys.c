#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "util/system/status.h"
#include "util/text/nearest.h"
#include "yaml_file.h"

#define KEYS_NAMES_MAX 100

const sp_yaml *sp_yaml_get(const sp_yaml *map, const char *name) {
  const sp_yaml_item *item =
      map && map->kind == SP_YAML_MAP ? map->first : NULL;

  while (item && strcmp(item->name, name) != 0)
    item = item->next;
  return item && item->value->kind != SP_YAML_NULL ? item->value : NULL;
}

static spanprof_status keys_fail(const sp_yaml_file *file, uint32_t line,
                                 spanprof_status st, const char *sentence) {
  return sp_fail(st, "%s %.200s, line %u: %.300s", file->option, file->path,
                 line, sentence);
}

spanprof_status sp_yaml_fail(const sp_yaml *value, const char *format, ...) {
  char sentence[320];
  va_list arguments;

  va_start(arguments, format);
  vsnprintf(sentence, sizeof sentence, format, arguments);
  va_end(arguments);
  return keys_fail(value->file, value->line, SPANPROF_ERR_ARGUMENT, sentence);
}

spanprof_status sp_yaml_fail_at(const sp_yaml *value, spanprof_status st) {
  char sentence[320];

  snprintf(sentence, sizeof sentence, "%s", spanprof_last_error());
  return keys_fail(value->file, value->line, st, sentence);
}

static bool keys_fits(const char *known, const char *name) {
  const size_t size = strlen(name), end = strlen(known + 1);

  if (*known != '*')
    return strcmp(known, name) == 0;
  return size > end && strcmp(name + size - end, known + 1) == 0;
}

static bool keys_have(const char *const *known, const char *name) {
  while (known && *known && !keys_fits(*known, name))
    known++;
  return known && *known;
}

static const char *keys_name(const void *names, size_t i) {
  return ((const char *const *)names)[i];
}

static spanprof_status keys_refuse(const sp_yaml *map, const char *what,
                                   const sp_yaml_keys *keys,
                                   const sp_yaml_item *item) {
  const char *names[KEYS_NAMES_MAX];
  const char *const *lists[] = {keys->read, keys->ignored};
  const char *const *name;
  const char *near;
  size_t count = 0, i;
  char sentence[320];

  for (i = 0; i < SP_COUNT_OF(lists); i++)
    for (name = lists[i]; name && *name && count < KEYS_NAMES_MAX; name++)
      names[count++] = *name;
  near = sp_nearest(item->name, names, count, keys_name);
  snprintf(sentence, sizeof sentence, "%s has no key \"%.100s\"%s%s%s", what,
           item->name, near ? ": did you mean " : "", near ? near : "",
           near ? "?" : "");
  return keys_fail(map->file, item->line, SPANPROF_ERR_ARGUMENT, sentence);
}

spanprof_status sp_yaml_check_keys(const sp_yaml *map, const char *what,
                                   const sp_yaml_keys *keys) {
  const sp_yaml_file *file = map->file;
  const sp_yaml_item *item;

  if (map->kind != SP_YAML_MAP)
    return sp_yaml_fail(map, "%s is not a map of keys and values", what);
  for (item = map->first; item; item = item->next) {
    if (keys_have(keys->read, item->name))
      continue;
    if (!keys_have(keys->ignored, item->name))
      return keys_refuse(map, what, keys, item);
    if (file->log)
      sp_log_line(file->log, SPANPROF_LOG_WARN,
                  "%s %.200s, line %u: %s of %s is ignored", file->option,
                  file->path, item->line, item->name, what);
  }
  return SPANPROF_OK;
}

spanprof_status sp_yaml_text(const sp_yaml *map, const char *name,
                             const char **out) {
  const sp_yaml *value = sp_yaml_get(map, name);

  if (!value)
    return SPANPROF_OK;
  if (value->kind != SP_YAML_TEXT)
    return sp_yaml_fail(value, "%s is not a text", name);
  *out = value->text;
  return SPANPROF_OK;
}

spanprof_status sp_yaml_switch(const sp_yaml *map, const char *name,
                               bool *out) {
  /* The booleans of YAML 1.1 that parsers written in Go accept. */
  static const char *const words[] = {
      "false", "true", "False", "True", "FALSE", "TRUE", "no", "yes", "No",
      "Yes",   "NO",   "YES",   "off",  "on",    "Off",  "On", "OFF", "ON"};
  const sp_yaml *value = sp_yaml_get(map, name);
  size_t i;

  if (!value)
    return SPANPROF_OK;
  for (i = 0;
       value->kind == SP_YAML_TEXT && value->plain && i < SP_COUNT_OF(words);
       i++)
    if (strcmp(value->text, words[i]) == 0) {
      *out = i % 2;
      return SPANPROF_OK;
    }
  return sp_yaml_fail(value, "%s must be true or false, without quotes", name);
}

spanprof_status sp_yaml_child(const sp_yaml *map, const char *name,
                              sp_yaml_kind kind, const sp_yaml **out) {
  *out = sp_yaml_get(map, name);
  return !*out || (*out)->kind == kind
             ? SPANPROF_OK
             : sp_yaml_fail(*out, "%s is no %s", name,
                            kind == SP_YAML_LIST ? "list" : "map");
}
