/* Reads files of rules, with the keys of classic Pyroscope:
 * https://github.com/grafana/pyroscope/tree/v0.37.2/examples/metrics-export */
#include <stdio.h>
#include <string.h>

#include "metric_rule.h"
#include "server/model/yaml_file.h"
#include "util/system/status.h"

/* Add the line of the value to an error message. */
static spanprof_status file_at(const sp_yaml *value, spanprof_status st) {
  return st == SPANPROF_ERR_ARGUMENT ? sp_yaml_fail_at(value, st) : st;
}

/* Read the list `name` of labels to group by. If `name` is "labels", it may
 * also be a map of fixed labels. */
static spanprof_status file_labels(sp_metric_rules *rules, sp_metric_rule *rule,
                                   const sp_yaml *value, const char *name) {
  const bool constants = strcmp(name, "labels") == 0;
  spanprof_status st = SPANPROF_OK;
  const sp_yaml_item *item;

  if (!value)
    return SPANPROF_OK;
  if (value->kind == SP_YAML_TEXT || (value->kind == SP_YAML_MAP && !constants))
    return sp_yaml_fail(value, "metric %.100s: %s must be a list%s", rule->name,
                        name, constants ? " or a map" : "");
  for (item = value->first; !st && item; item = item->next) {
    const char *text = item->value->text;

    if (item->value->kind != SP_YAML_TEXT)
      st = sp_yaml_fail(item->value, "metric %.100s: %s in %s is not a text",
                        rule->name, item->name ? item->name : "a name", name);
    else
      st = file_at(item->value,
                   item->name ? sp_metric_rule_add_constant(rules, rule,
                                                            item->name, text)
                              : sp_metric_rule_add_group(rules, rule, text));
  }
  return st;
}

static spanprof_status file_rule(sp_metric_rules *rules,
                                 const sp_yaml_item *item) {
  static const char *const read[] = {"expr",     "query", "node", "labels",
                                     "group_by", "type",  NULL};
  static const sp_yaml_keys keys = {read, NULL};
  const sp_yaml *given = item->value;
  const char *query = NULL, *node = "total", *type = NULL;
  sp_metric_rule *rule;
  spanprof_status st = sp_metric_rule_new(rules, item->name, &rule);
  char what[128];

  if (st)
    return file_at(given, st);
  snprintf(what, sizeof what, "metric %.100s", rule->name);
  st = sp_yaml_check_keys(given, what, &keys);
  if (!st)
    st = sp_yaml_text(given, "query", &query);
  if (!st)
    st = sp_yaml_text(given, "expr", &query);
  if (!st)
    st = sp_yaml_text(given, "node", &node);
  if (!st)
    st = sp_yaml_text(given, "type", &type);
  if (!st && !query)
    st = sp_yaml_fail(given, "metric %.100s has no expr", rule->name);
  if (!st)
    st = file_at(given, sp_metric_rule_set_node(rules, rule, node));
  if (!st)
    st = file_labels(rules, rule, sp_yaml_get(given, "group_by"), "group_by");
  if (!st)
    st = file_labels(rules, rule, sp_yaml_get(given, "labels"), "labels");
  return st ? st
            : file_at(given, sp_metric_rule_finish(rules, rule, query, type));
}

static spanprof_status file_read(sp_metric_rules *rules, const sp_yaml *root) {
  const sp_yaml *inside = sp_yaml_get(root, "metrics-export-rules");
  spanprof_status st = SPANPROF_OK;
  const sp_yaml_item *item;

  if (inside)
    root = inside;
  if (root->kind != SP_YAML_MAP)
    return sp_yaml_fail(root, "the file is not a map of rules by name");
  for (item = root->first; !st && item; item = item->next)
    st = file_rule(rules, item);
  return st;
}

spanprof_status sp_metric_rules_add_file(sp_metric_rules *rules,
                                         const char *path) {
  sp_yaml_file file;
  spanprof_status st;

  sp_yaml_file_init(&file, "--metrics", path, NULL, rules->mem);
  st = sp_yaml_file_load(&file);
  if (!st)
    st = file_read(rules, file.root);
  sp_yaml_file_dispose(&file);
  return st;
}
