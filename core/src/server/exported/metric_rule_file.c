/* Rules in a JSON file, with the keys that they had in classic Pyroscope's
 * YAML:
 * https://github.com/grafana/pyroscope/tree/v0.37.2/examples/metrics-export */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "../../util/status.h"
#include "metric_rule.h"

static spanprof_status file_text(const sp_metric_rule *rule,
                                 const json_t *object, const char *name,
                                 const char **out) {
  const json_t *value = json_object_get(object, name);

  if (!value)
    return SPANPROF_OK;
  *out = json_string_value(value);
  return *out ? SPANPROF_OK
              : sp_fail(SPANPROF_ERR_ARGUMENT, "metric %.100s: %s is no text",
                        rule->name, name);
}

/* An array of names to group by; of `labels` also an object of labels. */
static spanprof_status file_labels(sp_metric_rules *rules, sp_metric_rule *rule,
                                   json_t *value, const char *name,
                                   bool constants) {
  spanprof_status st = SPANPROF_OK;
  const char *key;
  json_t *item;
  size_t i;

  if (!value || json_is_null(value))
    return SPANPROF_OK;
  if (!json_is_array(value) && !(constants && json_is_object(value)))
    return sp_fail(SPANPROF_ERR_ARGUMENT, "metric %.100s: %s is no array%s",
                   rule->name, name, constants ? " and no object" : "");
  json_array_foreach(value, i, item) {
    if (!st)
      st = json_is_string(item)
               ? sp_metric_rule_add_group(rules, rule, json_string_value(item))
               : sp_fail(SPANPROF_ERR_ARGUMENT,
                         "metric %.100s: a name in %s is no text", rule->name,
                         name);
  }
  json_object_foreach(value, key, item) {
    if (!st)
      st = json_is_string(item)
               ? sp_metric_rule_add_constant(rules, rule, key,
                                             json_string_value(item))
               : sp_fail(SPANPROF_ERR_ARGUMENT,
                         "metric %.100s: the label %.100s is no text",
                         rule->name, key);
  }
  return st;
}

static spanprof_status file_known(const sp_metric_rule *rule, json_t *given) {
  static const char *const known[] = {"expr",   "query",    "node",
                                      "labels", "group_by", "type"};
  const char *key;
  json_t *value;
  size_t i;

  json_object_foreach(given, key, value) {
    for (i = 0; i < SP_COUNT_OF(known) && strcmp(known[i], key); i++)
      ;
    if (i == SP_COUNT_OF(known))
      return sp_fail(SPANPROF_ERR_ARGUMENT,
                     "metric %.100s: it has expr, node, group_by, labels and "
                     "type, no \"%.100s\"",
                     rule->name, key);
  }
  return SPANPROF_OK;
}

static spanprof_status file_rule(sp_metric_rules *rules, const char *name,
                                 json_t *given) {
  const char *query = NULL, *node = "total", *type = NULL;
  sp_metric_rule *rule;
  spanprof_status st = sp_metric_rule_new(rules, name, &rule);

  if (st)
    return st;
  if (!json_is_object(given))
    return sp_fail(SPANPROF_ERR_ARGUMENT, "metric %.100s is no object", name);
  st = file_known(rule, given);
  if (!st)
    st = file_text(rule, given, "query", &query);
  if (!st)
    st = file_text(rule, given, "expr", &query);
  if (!st)
    st = file_text(rule, given, "node", &node);
  if (!st)
    st = file_text(rule, given, "type", &type);
  if (!st && !query)
    st = sp_fail(SPANPROF_ERR_ARGUMENT, "metric %.100s has no expr", name);
  if (!st)
    st = sp_metric_rule_set_node(rules, rule, node);
  if (!st)
    st = file_labels(rules, rule, json_object_get(given, "group_by"),
                     "group_by", false);
  if (!st)
    st = file_labels(rules, rule, json_object_get(given, "labels"), "labels",
                     true);
  return st ? st : sp_metric_rule_finish(rules, rule, query, type);
}

static spanprof_status file_read(sp_metric_rules *rules, json_t *root) {
  json_t *inside = json_object_get(root, "metrics-export-rules");
  spanprof_status st = SPANPROF_OK;
  const char *name;
  json_t *given;

  if (inside)
    root = inside;
  if (!json_is_object(root))
    return sp_fail(SPANPROF_ERR_ARGUMENT, "it is no object of rules");
  json_object_foreach(root, name, given) {
    if (!st)
      st = file_rule(rules, name, given);
  }
  return st;
}

spanprof_status sp_metric_rules_add_file(sp_metric_rules *rules,
                                         const char *path) {
  json_error_t error;
  json_t *root = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
  char sentence[512];
  spanprof_status st;

  if (!root && json_error_code(&error) == json_error_cannot_open_file)
    return sp_fail(SPANPROF_ERR_IO, "--metrics: %s", error.text);
  if (!root)
    return sp_fail(SPANPROF_ERR_ARGUMENT,
                   "--metrics %.200s, line %d: it is no JSON: %s", path,
                   error.line, error.text);
  st = file_read(rules, root);
  json_decref(root);
  if (!st)
    return SPANPROF_OK;
  snprintf(sentence, sizeof sentence, "%s", spanprof_last_error());
  return sp_fail(st, "--metrics %.200s: %s", path, sentence);
}
