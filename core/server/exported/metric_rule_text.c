/* Reads a rule from one argument of the command line:
 * "name=…,query=app.cpu{a="b",c="d"},node=…". */
#include <stdio.h>
#include <string.h>

#include "metric_rule.h"
#include "util/memory/buffer.h"
#include "util/system/status.h"

typedef struct rule_text {
  char *name;
  char *query;
  char *node;
  char *group_by;
  char *labels;
  char *type;
} rule_text;

/* Find the end of the first member: a comma, or the end of the text. */
static char *rule_member_end(char *text) {
  int depth = 0;
  char quote = '\0';

  for (; *text; text++) {
    if (quote && *text == '\\' && text[1])
      text++;
    else if (quote)
      quote = *text == quote ? '\0' : quote;
    else if (*text == '"' || *text == '\'' || *text == '`')
      quote = *text;
    else if (*text == '{')
      depth++;
    else if (*text == '}')
      depth--;
    else if (*text == ',' && depth <= 0)
      return text;
  }
  return text;
}

static spanprof_status rule_text_member(rule_text *rule, const char *key,
                                        char *value) {
  const struct {
    const char *name;
    char **place;
  } members[] = {{"name", &rule->name},         {"query", &rule->query},
                 {"expr", &rule->query},        {"node", &rule->node},
                 {"group_by", &rule->group_by}, {"labels", &rule->labels},
                 {"type", &rule->type}};
  size_t i;

  for (i = 0; i < SP_COUNT_OF(members); i++) {
    if (strcmp(members[i].name, key) != 0)
      continue;
    if (*members[i].place)
      return sp_fail(SPANPROF_ERR_ARGUMENT, "%s is given twice", key);
    *members[i].place = value;
    return SPANPROF_OK;
  }
  return sp_fail(SPANPROF_ERR_ARGUMENT,
                 "unknown key \"%.100s\": the keys are name, query, node, "
                 "group_by, labels and type",
                 key);
}

static spanprof_status rule_text_split(char *text, rule_text *out) {
  spanprof_status st = SPANPROF_OK;
  char *end, *equals;
  bool last = false;

  while (!st && !last) {
    end = rule_member_end(text);
    last = *end == '\0';
    *end = '\0';
    equals = strchr(text, '=');
    if (!equals)
      return sp_fail(SPANPROF_ERR_ARGUMENT,
                     "\"%.100s\" is not KEY=VALUE, such as node=total", text);
    *equals = '\0';
    st = rule_text_member(out, text, equals + 1);
    text = end + 1;
  }
  return st;
}

/* Read items separated by semicolons. In `labels`, "team=web" is a fixed label
 * and a name alone is a label to group by, as in classic Pyroscope. */
static spanprof_status rule_text_labels(sp_metric_rules *rules,
                                        sp_metric_rule *rule, char *text,
                                        bool constants) {
  spanprof_status st = SPANPROF_OK;
  char *equals;
  size_t size;
  bool last = !text;

  while (!st && !last) {
    size = strcspn(text, ";");
    last = text[size] == '\0';
    text[size] = '\0';
    equals = constants ? strchr(text, '=') : NULL;
    if (equals) {
      *equals = '\0';
      st = sp_metric_rule_add_constant(rules, rule, text, equals + 1);
    } else {
      st = sp_metric_rule_add_group(rules, rule, text);
    }
    text += size + 1;
  }
  return st;
}

static spanprof_status rule_text_read(sp_metric_rules *rules, char *copy) {
  rule_text text = {0};
  sp_metric_rule *rule = NULL;
  spanprof_status st = rule_text_split(copy, &text);

  if (!st && (!text.name || !text.query))
    st = sp_fail(SPANPROF_ERR_ARGUMENT, "%s is missing",
                 text.name ? "query" : "name");
  if (!st)
    st = sp_metric_rule_new(rules, text.name, &rule);
  if (!st)
    st = sp_metric_rule_set_node(rules, rule, text.node ? text.node : "total");
  if (!st)
    st = rule_text_labels(rules, rule, text.group_by, false);
  if (!st)
    st = rule_text_labels(rules, rule, text.labels, true);
  return st ? st : sp_metric_rule_finish(rules, rule, text.query, text.type);
}

spanprof_status sp_metric_rules_add(sp_metric_rules *rules, const char *text) {
  char *copy = sp_mem_text(rules->mem, text, strlen(text));
  char sentence[512];
  spanprof_status st;

  if (!copy)
    return sp_fail(SPANPROF_ERR_NOMEM,
                   "no memory for the rules of exported metrics");
  st = rule_text_read(rules, copy);
  sp_mem_free(rules->mem, copy);
  if (!st)
    return SPANPROF_OK;
  snprintf(sentence, sizeof sentence, "%s", spanprof_last_error());
  return sp_fail(st, "--metric \"%.100s\": %s", text, sentence);
}
