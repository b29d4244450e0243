#include "exported_metrics.h"

#include <stdio.h>
#include <string.h>

/* The state of a label set for the rule. A value from EXPORTED_SERIES on is
 * EXPORTED_SERIES plus the index of the label set's series. */
enum {
  EXPORTED_UNKNOWN,
  EXPORTED_REFUSED,  /* the rule's matchers do not accept it */
  EXPORTED_OVERFLOW, /* the rule has too many series */
  EXPORTED_SERIES,
};

/* The work to apply one rule to one type of one profile. */
typedef struct exported_work {
  sp_exported_metrics *metrics;
  const sp_metric_rule *rule;
  uint32_t rule_number;
  const sp_received *profile;
  size_t type;
  const char *type_id;
  uint32_t *sets;    /* the EXPORTED_* state of each label set */
  uint8_t *has_node; /* for each stack, whether it contains the rule's function;
                      * NULL: the rule has no function */
} exported_work;

void sp_exported_metrics_init(sp_exported_metrics *metrics, const sp_mem *mem,
                              sp_log *log, const sp_metric_rules *rules) {
  memset(metrics, 0, sizeof *metrics);
  metrics->mem = mem;
  metrics->log = log;
  metrics->rules = rules;
  pthread_mutex_init(&metrics->lock, NULL);
}

static void exported_free_values(const sp_mem *mem, char **values,
                                 size_t count) {
  size_t i;

  for (i = 0; values && i < count; i++)
    sp_mem_free(mem, values[i]);
  sp_mem_free(mem, values);
}

void sp_exported_metrics_dispose(sp_exported_metrics *metrics) {
  size_t i;

  if (!metrics->mem)
    return;
  for (i = 0; i < metrics->count; i++)
    exported_free_values(
        metrics->mem, metrics->series[i].values,
        metrics->rules->rules[metrics->series[i].rule].group_count);
  sp_mem_free(metrics->mem, metrics->series);
  sp_index_dispose(&metrics->index, metrics->mem);
  pthread_mutex_destroy(&metrics->lock);
}

/* Find a label as queries do: first among the labels that are made from the
 * type, then among the labels of the upload, and last among those of the
 * samples. */
static const char *exported_label(const exported_work *work, uint32_t set,
                                  const char *name) {
  const sp_received *profile = work->profile;
  const sp_received_type *type = &profile->types[work->type];
  const char *value;

  if (strcmp(name, "__type__") == 0)
    return sp_received_text_of(profile, type->type);
  if (strcmp(name, "__unit__") == 0)
    return sp_received_text_of(profile, type->unit);
  if (strcmp(name, "__period_type__") == 0)
    return sp_received_text_of(profile, profile->period_type.type);
  if (strcmp(name, "__period_unit__") == 0)
    return sp_received_text_of(profile, profile->period_type.unit);
  if (strcmp(name, "__profile_type__") == 0)
    return work->type_id;
  if (strcmp(name, "__service_name__") == 0)
    name = "service_name";
  value = sp_received_label(profile, profile->series, name);
  if (!value)
    value = sp_received_label(profile, set, name);
  return value ? value : "";
}

static bool exported_accepts(const exported_work *work, uint32_t set) {
  const sp_matcher_list *matchers = &work->rule->matchers;
  size_t i;

  for (i = 0; i < matchers->count; i++)
    if (!sp_matcher_accepts(
            &matchers->matchers[i],
            exported_label(work, set, matchers->matchers[i].name)))
      return false;
  return true;
}

static bool exported_same(const exported_work *work,
                          const sp_exported_series *series, uint32_t set) {
  size_t i;

  if (series->rule != work->rule_number)
    return false;
  for (i = 0; i < work->rule->group_count; i++)
    if (strcmp(series->values[i],
               exported_label(work, set, work->rule->groups[i])) != 0)
      return false;
  return true;
}

/* Copy the values of the labels in the rule's `groups` from a label set.
 * Returns NULL if there is no memory. */
static char **exported_values(const exported_work *work, uint32_t set) {
  const sp_mem *mem = work->metrics->mem;
  const size_t count = work->rule->group_count;
  char **values = sp_mem_zero(mem, (count + 1) * sizeof *values);
  const char *value;
  size_t i;

  for (i = 0; values && i < count; i++) {
    value = exported_label(work, set, work->rule->groups[i]);
    values[i] = sp_mem_text(mem, value, strlen(value));
    if (!values[i]) {
      exported_free_values(mem, values, count);
      return NULL;
    }
  }
  return values;
}

static spanprof_status exported_new_series(const exported_work *work,
                                           uint32_t set, uint64_t hash,
                                           uint32_t *out) {
  sp_exported_metrics *metrics = work->metrics;
  size_t *series = &metrics->of_rules[work->rule_number].series;
  void *array = metrics->series;
  char **values;
  spanprof_status st;

  *out = EXPORTED_OVERFLOW;
  if (*series == SP_EXPORTED_SERIES_MAX)
    return SPANPROF_OK;
  st = sp_mem_reserve(metrics->mem, &array, &metrics->capacity,
                      metrics->count + 1, sizeof *metrics->series);
  metrics->series = array;
  if (!st)
    st = sp_index_reserve(&metrics->index, metrics->mem);
  values = st ? NULL : exported_values(work, set);
  if (!values)
    return SPANPROF_ERR_NOMEM;
  if (++*series == SP_EXPORTED_SERIES_MAX)
    sp_log_line(metrics->log, SPANPROF_LOG_WARN,
                "metric %s has the maximum of %d series: the values of further "
                "series are added to spanprof_exported_metrics_overflow_total; "
                "group_by with fewer labels makes fewer series",
                work->rule->name, SP_EXPORTED_SERIES_MAX);
  sp_index_add(&metrics->index, hash, (uint32_t)metrics->count);
  *out = (uint32_t)metrics->count + EXPORTED_SERIES;
  metrics->series[metrics->count++] =
      (sp_exported_series){.rule = work->rule_number, .values = values};
  return SPANPROF_OK;
}

/* Find or add the series of a label set that the rule's matchers accept. */
static spanprof_status exported_find(const exported_work *work, uint32_t set,
                                     uint32_t *out) {
  sp_exported_metrics *metrics = work->metrics;
  uint64_t hash = sp_hash_mix(work->rule_number, SP_HASH_SEED);
  uint32_t at, i;
  size_t k;

  for (k = 0; k < work->rule->group_count; k++) {
    const char *value = exported_label(work, set, work->rule->groups[k]);

    hash = sp_hash_mix(hash, sp_hash_bytes(value, strlen(value)));
  }
  for (i = sp_index_first(&metrics->index, hash, &at); i != SP_INDEX_NONE;
       i = sp_index_next(&metrics->index, hash, &at))
    if (exported_same(work, &metrics->series[i], set)) {
      *out = i + EXPORTED_SERIES;
      return SPANPROF_OK;
    }
  return exported_new_series(work, set, hash, out);
}

static bool exported_is_node(const sp_metric_rule *rule, const char *function) {
  return rule->function
             ? strcmp(rule->function, function) == 0
             : sp_matcher_accepts(&rule->found.matchers[0], function);
}

/* Mark the stacks that contain the rule's function in work->has_node, which the
 * caller has set to zeros. `functions` is scratch memory with one byte for each
 * function. */
static void exported_mark(const exported_work *work, uint8_t *functions) {
  const sp_received *profile = work->profile;
  size_t i, k, l;

  for (i = 0; i < profile->function_count; i++)
    functions[i] = exported_is_node(
        work->rule, sp_received_text_of(profile, profile->functions[i].name));
  for (i = 0; i < profile->stack_count; i++)
    for (k = 0; k < profile->stacks[i].count && !work->has_node[i]; k++) {
      const sp_received_location *location =
          &profile
               ->locations[profile->stack_frames[profile->stacks[i].first + k]];

      for (l = 0; l < location->line_count; l++)
        work->has_node[i] |=
            functions[profile->lines[location->first_line + l].function];
    }
}

static void exported_sum(int64_t *sum, int64_t value) {
  if (__builtin_add_overflow(*sum, value, sum))
    *sum = INT64_MAX;
}

static spanprof_status exported_samples(const exported_work *work) {
  sp_exported_metrics *metrics = work->metrics;
  const sp_received *profile = work->profile;
  spanprof_status st = SPANPROF_OK;
  size_t i;

  for (i = 0; !st && i < profile->sample_count; i++) {
    const sp_received_sample *sample = &profile->samples[i];
    const int64_t value = profile->values[sample->values + work->type];
    uint32_t *set = &work->sets[sample->labels];

    if (value <= 0 || (work->has_node && !work->has_node[sample->stack]))
      continue;
    if (*set == EXPORTED_UNKNOWN) {
      *set = EXPORTED_REFUSED;
      if (exported_accepts(work, sample->labels))
        st = exported_find(work, sample->labels, set);
    }
    if (*set == EXPORTED_OVERFLOW)
      exported_sum(&metrics->of_rules[work->rule_number].overflow, value);
    else if (*set >= EXPORTED_SERIES)
      exported_sum(&metrics->series[*set - EXPORTED_SERIES].sum, value);
  }
  return st;
}

/* Apply one rule to one type of a profile. */
static spanprof_status exported_run(exported_work *work) {
  const sp_received *profile = work->profile;
  const sp_mem *mem = work->metrics->mem;
  const bool node = work->rule->function || work->rule->found.count;
  uint8_t *marks = NULL;
  spanprof_status st = SPANPROF_ERR_NOMEM;

  work->has_node = NULL;
  work->sets =
      sp_mem_zero(mem, (profile->label_set_count + 1) * sizeof *work->sets);
  if (node)
    marks = sp_mem_zero(mem, profile->stack_count + profile->function_count);
  if (marks) {
    work->has_node = marks;
    exported_mark(work, marks + profile->stack_count);
  }
  if (work->sets && (marks || !node))
    st = exported_samples(work);
  sp_mem_free(mem, work->sets);
  sp_mem_free(mem, marks);
  return st;
}

/* If a regular expression of the rule took too long, log this once. The
 * expression matches nothing from then on. */
static void exported_check_regex(const exported_work *work) {
  bool *gave_up = &work->metrics->of_rules[work->rule_number].gave_up;

  if (*gave_up || (!sp_matcher_list_gave_up(&work->rule->matchers) &&
                   !sp_matcher_list_gave_up(&work->rule->found)))
    return;
  *gave_up = true;
  sp_log_line(work->metrics->log, SPANPROF_LOG_WARN,
              "metric %s gets no further values, because matching its regular "
              "expression takes too long: use a simpler one",
              work->rule->name);
}

static spanprof_status exported_type(exported_work *work, sp_buffer *id) {
  const sp_received *profile = work->profile;
  const sp_received_type *type = &profile->types[work->type];
  const char *name = sp_received_label(profile, profile->series, "__name__");
  spanprof_status st;
  uint32_t i;

  sp_buffer_clear(id);
  sp_buffer_format(id, "%s:%s:%s:%s:%s", name ? name : "",
                   sp_received_text_of(profile, type->type),
                   sp_received_text_of(profile, type->unit),
                   sp_received_text_of(profile, profile->period_type.type),
                   sp_received_text_of(profile, profile->period_type.unit));
  st = sp_buffer_status(id);
  work->type_id = id->data;
  for (i = 0; !st && i < work->metrics->rules->count; i++) {
    work->rule = &work->metrics->rules->rules[i];
    work->rule_number = i;
    if (!sp_profile_type_matches(work->rule->type, id->data))
      continue;
    st = exported_run(work);
    exported_check_regex(work);
  }
  return st;
}

void sp_exported_metrics_observe(void *data, const sp_received *profile) {
  sp_exported_metrics *metrics = data;
  exported_work work = {.metrics = metrics, .profile = profile};
  spanprof_status st = SPANPROF_OK;
  sp_buffer id;

  sp_buffer_init(&id, metrics->mem);
  pthread_mutex_lock(&metrics->lock);
  for (work.type = 0; !st && work.type < profile->type_count; work.type++)
    st = exported_type(&work, &id);
  metrics->lost += st ? 1 : 0;
  pthread_mutex_unlock(&metrics->lock);
  sp_buffer_dispose(&id);
}
