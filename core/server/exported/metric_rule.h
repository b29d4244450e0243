/* Rules of exported metrics: the selection of profiles that each metric sums.
 */
#ifndef SP_METRIC_RULE_H
#define SP_METRIC_RULE_H

#include "server/model/text_pair.h"
#include "server/query/selector/label_query.h"

#define SP_METRIC_RULES_MAX  100
#define SP_METRIC_LABELS_MAX 16 /* labels of one rule */

typedef struct sp_metric_rule {
  const char *name;  /* name of the metric in Prometheus */
  const char *query; /* the query as configured */
  const char *type;  /* profile type, "name:type:unit:ptype:punit" */
  sp_matcher_list matchers;
  const char *function;  /* only stacks with this function are summed; NULL: all
                          * stacks, or those that `found` selects */
  sp_matcher_list found; /* regular expression for the function, as one matcher;
                          * empty: none */
  const char *groups[SP_METRIC_LABELS_MAX]; /* labels of the profiles by which
                                             * the metric is divided */
  const char *shown[SP_METRIC_LABELS_MAX];  /* the names of `groups`, changed to
                                             * valid names in Prometheus */
  size_t group_count;
  sp_text_pair constants[SP_METRIC_LABELS_MAX];
  size_t constant_count;
  bool seconds; /* the name of the metric ends in "_seconds", so nanoseconds are
                 * converted to seconds */
} sp_metric_rule;

typedef struct sp_metric_rules {
  const sp_mem *mem;
  sp_arena arena;
  sp_metric_rule *rules;
  size_t count;
} sp_metric_rules;

/* The caller disposes of the rules, also after SPANPROF_ERR_NOMEM. */
spanprof_status sp_metric_rules_init(sp_metric_rules *rules, const sp_mem *mem);
void sp_metric_rules_dispose(sp_metric_rules *rules);

/* Add "name=…,query=…,node=…,group_by=…,labels=…,type=…", with the members in
 * any order. Commas within braces or quotes do not end a member. Returns
 * SPANPROF_ERR_ARGUMENT and sets the error text if the rule is invalid, or
 * SPANPROF_ERR_NOMEM. */
spanprof_status sp_metric_rules_add(sp_metric_rules *rules, const char *text);

/* Add the rules of a YAML or JSON file: a map of rules by name, or a map that
 * has such a map as "metrics-export-rules". Returns SPANPROF_ERR_IO if the file
 * cannot be read, or a status of sp_metric_rules_add(). */
spanprof_status sp_metric_rules_add_file(sp_metric_rules *rules,
                                         const char *path);

/* Functions that build a rule step by step. They copy texts, and return the
 * statuses of sp_metric_rules_add(). */
spanprof_status sp_metric_rule_new(sp_metric_rules *rules, const char *name,
                                   sp_metric_rule **out);
spanprof_status sp_metric_rule_set_node(sp_metric_rules *rules,
                                        sp_metric_rule *rule, const char *node);
spanprof_status sp_metric_rule_add_group(sp_metric_rules *rules,
                                         sp_metric_rule *rule,
                                         const char *label);
spanprof_status sp_metric_rule_add_constant(sp_metric_rules *rules,
                                            sp_metric_rule *rule,
                                            const char *name,
                                            const char *value);
/* The last step, which adds the rule. `type` may be NULL. */
spanprof_status sp_metric_rule_finish(sp_metric_rules *rules,
                                      sp_metric_rule *rule, const char *query,
                                      const char *type);

#endif
