/* Rules of exported metrics: what of the profiles that come is added up under
 * which name. */
#ifndef SP_METRIC_RULE_H
#define SP_METRIC_RULE_H

#include "server/model/text_pair.h"
#include "server/query/selector/label_query.h"

#define SP_METRIC_RULES_MAX  100
#define SP_METRIC_LABELS_MAX 16 /* of one rule */

typedef struct sp_metric_rule {
  const char *name;  /* Prometheus' of the metric */
  const char *query; /* as given */
  const char *type;  /* profile type, of five parts */
  sp_matcher_list matchers;
  const char *function;  /* in the stack; NULL: all samples */
  sp_matcher_list found; /* in place of it, one regular expression */
  const char *groups[SP_METRIC_LABELS_MAX]; /* labels of the profiles */
  const char *shown[SP_METRIC_LABELS_MAX];  /* as Prometheus can have them */
  size_t group_count;
  sp_text_pair constants[SP_METRIC_LABELS_MAX];
  size_t constant_count;
  bool seconds; /* the name says so, and the values are nanoseconds */
} sp_metric_rule;

typedef struct sp_metric_rules {
  const sp_mem *mem;
  sp_arena arena;
  sp_metric_rule *rules;
  size_t count;
} sp_metric_rules;

/* SPANPROF_ERR_NOMEM: dispose of it all the same. */
spanprof_status sp_metric_rules_init(sp_metric_rules *rules, const sp_mem *mem);
void sp_metric_rules_dispose(sp_metric_rules *rules);

/* Add "name=…,query=…,node=…,group_by=…,labels=…,type=…", in any order; what is
 * behind a comma within braces or quotes belongs to the query.
 * SPANPROF_ERR_ARGUMENT in a sentence; SPANPROF_ERR_NOMEM. */
spanprof_status sp_metric_rules_add(sp_metric_rules *rules, const char *text);

/* Add those of a YAML or JSON file: a map of rules by their names, or one with
 * such a map as "metrics-export-rules". SPANPROF_ERR_IO: it cannot be read. */
spanprof_status sp_metric_rules_add_file(sp_metric_rules *rules,
                                         const char *path);

/* Make a rule step by step; texts are copied. */
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
/* `type` may be NULL. Last: the rule counts from here on. */
spanprof_status sp_metric_rule_finish(sp_metric_rules *rules,
                                      sp_metric_rule *rule, const char *query,
                                      const char *type);

#endif
