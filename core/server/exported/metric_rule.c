#include "metric_rule.h"

#include <string.h>

#include "server/query/selector/classic_query.h"
#include "server/query/wire/query_plan.h"
#include "util/system/status.h"

/* Memory limit for the texts of all rules. */
#define RULE_BYTES_MAX ((size_t)4 << 20)

static const char rule_digits[] = "0123456789";
static const char rule_letters[] =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";

spanprof_status sp_metric_rules_init(sp_metric_rules *rules,
                                     const sp_mem *mem) {
  memset(rules, 0, sizeof *rules);
  rules->mem = mem;
  sp_arena_init(&rules->arena, mem, RULE_BYTES_MAX);
  rules->rules = sp_mem_zero(mem, SP_METRIC_RULES_MAX * sizeof *rules->rules);
  return rules->rules ? SPANPROF_OK : SPANPROF_ERR_NOMEM;
}

void sp_metric_rules_dispose(sp_metric_rules *rules) {
  size_t i;

  if (!rules->mem)
    return;
  /* The loop includes a rule that was not finished, which is not in `count`. */
  for (i = 0; rules->rules && i < SP_METRIC_RULES_MAX && rules->rules[i].name;
       i++) {
    sp_matcher_list_dispose(&rules->rules[i].matchers);
    sp_matcher_list_dispose(&rules->rules[i].found);
  }
  sp_mem_free(rules->mem, rules->rules);
  sp_arena_dispose(&rules->arena);
}

static spanprof_status rule_copy(sp_metric_rules *rules, const char *text,
                                 const char **out) {
  *out = sp_arena_text(&rules->arena, text, strlen(text));
  return *out ? SPANPROF_OK
              : sp_fail(rules->arena.st,
                        "no memory for the rules of exported metrics");
}

/* Valid names: https://prometheus.io/docs/concepts/data_model/. Names of labels
 * have no colon. */
static bool rule_name_valid(const char *name, bool colons) {
  const char *p = name;

  if (!*name || strchr(rule_digits, *name))
    return false;
  while (*p && (strchr(rule_letters, *p) || strchr(rule_digits, *p) ||
                (colons && *p == ':')))
    p++;
  return *p == '\0';
}

static bool rule_ends_with(const char *text, const char *end) {
  const size_t size = strlen(text), end_size = strlen(end);

  return size >= end_size && strcmp(text + size - end_size, end) == 0;
}

spanprof_status sp_metric_rule_new(sp_metric_rules *rules, const char *name,
                                   sp_metric_rule **out) {
  sp_metric_rule *rule = &rules->rules[rules->count];
  size_t i;

  if (rules->count == SP_METRIC_RULES_MAX)
    return sp_fail(SPANPROF_ERR_ARGUMENT, "there are more than %d metrics",
                   SP_METRIC_RULES_MAX);
  if (!rule_name_valid(name, true))
    return sp_fail(SPANPROF_ERR_ARGUMENT,
                   "\"%.100s\" is not a valid name of a metric, such as "
                   "shop_cpu_seconds_total",
                   name);
  for (i = 0; i < rules->count; i++)
    if (strcmp(rules->rules[i].name, name) == 0)
      return sp_fail(SPANPROF_ERR_ARGUMENT, "two metrics are called %.100s",
                     name);
  sp_matcher_list_init(&rule->matchers, rules->mem, &rules->arena);
  sp_matcher_list_init(&rule->found, rules->mem, &rules->arena);
  *out = rule;
  return rule_copy(rules, name, &rule->name);
}

spanprof_status sp_metric_rule_set_node(sp_metric_rules *rules,
                                        sp_metric_rule *rule,
                                        const char *node) {
  sp_query_fault fault = {0};
  spanprof_status st;

  if (strcmp(node, "total") == 0)
    return SPANPROF_OK;
  if (*node == '\0')
    return sp_fail(SPANPROF_ERR_ARGUMENT,
                   "metric %.100s: node is empty; give total, a function, or ~ "
                   "and a regular expression",
                   rule->name);
  if (*node != '~')
    return rule_copy(rules, node, &rule->function);
  st = sp_matcher_list_add(&rule->found, SP_MATCH_REGEX, "node", node + 1,
                           &fault);
  return st ? sp_fail(st, "metric %.100s: node: %.300s", rule->name,
                      fault.message)
            : SPANPROF_OK;
}

/* Replace characters that Prometheus does not allow in names of labels by "_".
 */
static void rule_clean(char *name) {
  char *p = name;

  for (; *p; p++)
    if (!strchr(rule_letters, *p) && (p == name || !strchr(rule_digits, *p)))
      *p = '_';
}

/* Returns whether the label is an id, which would make a series for each span.
 */
static bool rule_is_id(const char *label) {
  return strcmp(label, "profile_id") == 0 || strcmp(label, "span_id") == 0 ||
         strcmp(label, "trace_id") == 0;
}

static spanprof_status rule_refuse_id(const sp_metric_rule *rule,
                                      const char *label) {
  return sp_fail(SPANPROF_ERR_ARGUMENT,
                 "metric %.100s: %s has another value for each span and cannot "
                 "be used in a metric",
                 rule->name, label);
}

spanprof_status sp_metric_rule_add_group(sp_metric_rules *rules,
                                         sp_metric_rule *rule,
                                         const char *label) {
  const size_t at = rule->group_count;
  char *shown;
  spanprof_status st;

  if (rule_is_id(label))
    return rule_refuse_id(rule, label);
  if (!*label)
    return sp_fail(SPANPROF_ERR_ARGUMENT,
                   "metric %.100s: group_by has an empty label name",
                   rule->name);
  if (at == SP_METRIC_LABELS_MAX)
    return sp_fail(SPANPROF_ERR_ARGUMENT,
                   "metric %.100s: group_by has more than %d label names",
                   rule->name, SP_METRIC_LABELS_MAX);
  st = rule_copy(rules, label, &rule->groups[at]);
  if (st)
    return st;
  shown = sp_arena_text(&rules->arena, label, strlen(label));
  if (!shown)
    return sp_fail(rules->arena.st,
                   "no memory for the rules of exported metrics");
  rule_clean(shown);
  if (strcmp(shown, "__name__") == 0)
    return sp_fail(SPANPROF_ERR_ARGUMENT,
                   "metric %.100s: group_by %.100s becomes the label __name__, "
                   "which is reserved for the name of the metric",
                   rule->name, label);
  rule->shown[at] = shown;
  rule->group_count++;
  return SPANPROF_OK;
}

spanprof_status sp_metric_rule_add_constant(sp_metric_rules *rules,
                                            sp_metric_rule *rule,
                                            const char *name,
                                            const char *value) {
  sp_text_pair *pair = &rule->constants[rule->constant_count];
  spanprof_status st;

  if (!rule_name_valid(name, false) || strncmp(name, "__", 2) == 0)
    return sp_fail(SPANPROF_ERR_ARGUMENT,
                   "metric %.100s: \"%.100s\" is not a valid label name in "
                   "Prometheus",
                   rule->name, name);
  if (rule->constant_count == SP_METRIC_LABELS_MAX)
    return sp_fail(SPANPROF_ERR_ARGUMENT,
                   "metric %.100s has more than %d labels", rule->name,
                   SP_METRIC_LABELS_MAX);
  st = rule_copy(rules, name, &pair->name);
  if (!st)
    st = rule_copy(rules, value, &pair->value);
  if (!st)
    rule->constant_count++;
  return st;
}

/* Refuse duplicate labels, because Prometheus does. */
static spanprof_status rule_check_labels(const sp_metric_rule *rule) {
  const size_t count = rule->group_count + rule->constant_count;
  size_t i, k;

  for (i = 0; i < count; i++)
    for (k = 0; k < i; k++) {
      const char *a = i < rule->group_count
                          ? rule->shown[i]
                          : rule->constants[i - rule->group_count].name;
      const char *b = k < rule->group_count
                          ? rule->shown[k]
                          : rule->constants[k - rule->group_count].name;

      if (strcmp(a, b) == 0)
        return sp_fail(SPANPROF_ERR_ARGUMENT,
                       "metric %.100s: the label %.100s occurs twice",
                       rule->name, a);
    }
  return SPANPROF_OK;
}

/* Get the profile type: `type`, or the one in the query, as /api/v1 does. */
static spanprof_status rule_type(sp_metric_rules *rules, sp_metric_rule *rule,
                                 const char *type, const char *classic) {
  const sp_matcher *name = sp_matcher_list_find(&rule->matchers, "__name__");

  if (name && sp_profile_type_valid(name->value)) {
    type = type ? type : name->value;
    sp_matcher_list_remove(&rule->matchers, name);
  }
  if (type && !strchr(type, ':') && sp_classic_type(type))
    type = sp_classic_type(type);
  if (!type)
    type = classic ? classic : sp_classic_type("cpu");
  if (!sp_profile_type_valid(type))
    return sp_fail(SPANPROF_ERR_ARGUMENT,
                   "metric %.100s: \"%.200s\" is not a profile type such as "
                   "process_cpu:cpu:nanoseconds:cpu:nanoseconds",
                   rule->name, type);
  return rule_copy(rules, type, &rule->type);
}

spanprof_status sp_metric_rule_finish(sp_metric_rules *rules,
                                      sp_metric_rule *rule, const char *query,
                                      const char *type) {
  sp_query_fault fault = {0};
  const char *classic = NULL;
  size_t i;
  spanprof_status st =
      sp_label_query_parse(&rule->matchers, query, &classic, &fault);

  if (st == SPANPROF_ERR_ARGUMENT)
    sp_query_fault_add_hint(&fault);
  if (st == SPANPROF_ERR_ARGUMENT)
    return sp_fail(st, "metric %.100s: %.300s", rule->name, fault.message);
  if (!st)
    st = rule_type(rules, rule, type, classic);
  for (i = 0; !st && i < rule->matchers.count; i++)
    if (rule_is_id(rule->matchers.matchers[i].name))
      st = rule_refuse_id(rule, rule->matchers.matchers[i].name);
  if (!st)
    st = rule_check_labels(rule);
  if (!st)
    st = rule_copy(rules, query, &rule->query);
  if (st)
    return st;
  rule->seconds = strstr(rule->type, ":nanoseconds:") &&
                  (rule_ends_with(rule->name, "_seconds_total") ||
                   rule_ends_with(rule->name, "_seconds"));
  rules->count++;
  return SPANPROF_OK;
}
