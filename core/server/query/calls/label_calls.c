#include <string.h>

#include "query_calls.h"
#include "server/query/selector/text_set.h"

/* Returns whether a label name has only the characters of classic Prometheus
 * names. Other names are sent only to clients that accept UTF-8 label names. */
static bool label_is_plain(const char *name) {
  const char *p;

  for (p = name; *p; p++)
    if (*p != '_' && !((*p | 0x20) >= 'a' && (*p | 0x20) <= 'z') &&
        (p == name || *p < '0' || *p > '9'))
      return false;
  return p > name;
}

static bool label_all_names(const sp_query *query) {
  const char *accept = sp_http_header(query->http, "Accept");

  return accept && strstr(accept, "allow-utf8-labelnames=true");
}

/* Collects label names or values of all series. */
typedef struct label_gathering {
  sp_text_set *set;
  const char *name; /* the label whose values are collected; NULL: collect label
                     * names */
  bool all_names;
  spanprof_status st;
} label_gathering;

static bool label_gather(void *data, const sp_text_pairs *labels) {
  label_gathering *gathering = data;
  const char *value;
  size_t i;

  if (gathering->name) {
    value = sp_text_pairs_find(labels, gathering->name);
    if (value)
      gathering->st = sp_text_set_add(gathering->set, value, NULL);
    return !gathering->st;
  }
  for (i = 0; !gathering->st && i < labels->count; i++)
    if (gathering->all_names || label_is_plain(labels->pairs[i].name))
      gathering->st =
          sp_text_set_add(gathering->set, labels->pairs[i].name, NULL);
  return !gathering->st;
}

static spanprof_status label_select(sp_query_plan *plan, sp_text_set *set,
                                    const char *name, bool all_names) {
  label_gathering gathering = {
      .set = set, .name = name, .all_names = all_names};
  spanprof_status st = sp_store_series(
      plan->query->serve->store, sp_query_plan_selector(plan),
      (sp_store_names){&name, name ? 1 : 0}, label_gather, &gathering);

  if (!st)
    st = gathering.st;
  if (!st)
    sp_text_set_sort(set);
  return sp_query_plan_done(plan, st);
}

static void label_put_type(sp_reply *reply, char *id) {
  static const char *const names[] = {"name", "sampleType", "sampleUnit",
                                      "periodType", "periodUnit"};
  static const uint32_t fields[] = {2, 4, 5, 6, 7};
  size_t i;

  sp_reply_item(reply, 1);
  sp_reply_text(reply, 1, "ID", id);
  for (i = 0; i < SP_COUNT_OF(names); i++) {
    char *end = strchr(id, ':');

    if (end)
      *end = '\0';
    sp_reply_text(reply, fields[i], names[i], id);
    id = end ? end + 1 : id + strlen(id);
  }
  sp_reply_close(reply);
}

spanprof_status sp_call_profile_types(sp_query *query,
                                      const sp_query_request *request,
                                      sp_reply *reply) {
  sp_query_plan plan;
  sp_text_set types;
  spanprof_status st = SPANPROF_OK;
  size_t i;

  sp_query_plan_init(&plan, query);
  sp_text_set_init(&types, &query->arena);
  if (request->start_ms || request->end_ms)
    st = sp_query_plan_range(&plan, request->start_ms, request->end_ms);
  if (!st)
    st = label_select(&plan, &types, "__profile_type__", true);
  if (!st && types.count > 0) {
    sp_reply_list(reply, "profileTypes");
    for (i = 0; i < types.count; i++) {
      char *id =
          sp_arena_text(&query->arena, types.texts[i], strlen(types.texts[i]));

      if (id)
        label_put_type(reply, id);
      else
        st = query->arena.st;
    }
    sp_reply_list_end(reply);
  }
  sp_text_set_dispose(&types);
  sp_query_plan_dispose(&plan);
  return st;
}

/* Answer LabelNames, or LabelValues of `label`. */
static spanprof_status label_call(sp_query *query,
                                  const sp_query_request *request,
                                  const char *name, sp_reply *reply) {
  sp_query_plan plan;
  sp_text_set texts;
  spanprof_status st;

  sp_query_plan_init(&plan, query);
  sp_text_set_init(&texts, &query->arena);
  st = sp_query_plan_range(&plan, request->start_ms, request->end_ms);
  if (!st) {
    st = sp_query_plan_matchers(&plan, &request->matchers);
    if (st == SPANPROF_ERR_ARGUMENT)
      sp_query_fault_prefix(&query->fault, "parsing label selector: ");
  }
  if (!st)
    st = label_select(&plan, &texts, name, label_all_names(query));
  if (!st)
    sp_reply_texts(reply, 1, "names", texts.texts, texts.count);
  sp_text_set_dispose(&texts);
  sp_query_plan_dispose(&plan);
  return st;
}

spanprof_status sp_call_label_names(sp_query *query,
                                    const sp_query_request *request,
                                    sp_reply *reply) {
  return label_call(query, request, NULL, reply);
}

spanprof_status sp_call_label_values(sp_query *query,
                                     const sp_query_request *request,
                                     sp_reply *reply) {
  if (!request->name)
    return sp_query_invalid(query, "name is required");
  return label_call(query, request, request->name, reply);
}

/* The labels of a series are joined to one text with these separators. They do
 * not occur in labels, because labels are valid UTF-8. */
#define SERIES_NAME_END  '\xfe'
#define SERIES_VALUE_END '\xff'

typedef struct series_gathering {
  sp_text_set *set;
  sp_buffer key;
  const sp_texts *names; /* the requested label names; empty: all */
  bool all_names;
  spanprof_status st;
} series_gathering;

static bool series_has_requested(const series_gathering *gathering,
                                 const char *name) {
  size_t i;

  if (gathering->names->count == 0)
    return gathering->all_names || label_is_plain(name);
  for (i = 0; i < gathering->names->count; i++)
    if (strcmp(gathering->names->texts[i], name) == 0)
      return true;
  return false;
}

static bool series_gather(void *data, const sp_text_pairs *labels) {
  static const char name_end = SERIES_NAME_END, value_end = SERIES_VALUE_END;
  series_gathering *gathering = data;
  sp_buffer *key = &gathering->key;
  size_t i;

  sp_buffer_clear(key);
  for (i = 0; i < labels->count; i++) {
    if (!series_has_requested(gathering, labels->pairs[i].name))
      continue;
    sp_buffer_text(key, labels->pairs[i].name);
    sp_buffer_append(key, &name_end, 1);
    sp_buffer_text(key, labels->pairs[i].value);
    sp_buffer_append(key, &value_end, 1);
  }
  gathering->st = sp_buffer_status(key);
  if (!gathering->st)
    gathering->st =
        sp_text_set_add(gathering->set, key->size ? key->data : "", NULL);
  return !gathering->st;
}

static spanprof_status series_put(sp_query *query, sp_reply *reply,
                                  const char *key) {
  char *at = sp_arena_text(&query->arena, key, strlen(key));

  if (!at)
    return query->arena.st;
  sp_reply_item(reply, 2);
  if (*at)
    sp_reply_list(reply, "labels");
  while (*at) {
    char *name_end = strchr(at, SERIES_NAME_END);
    char *value_end = strchr(name_end, SERIES_VALUE_END);

    *name_end = *value_end = '\0';
    sp_reply_item(reply, 1);
    sp_reply_text(reply, 1, "name", at);
    sp_reply_text(reply, 2, "value", name_end + 1);
    sp_reply_close(reply);
    at = value_end + 1;
  }
  if (*key)
    sp_reply_list_end(reply);
  sp_reply_close(reply);
  return SPANPROF_OK;
}

spanprof_status sp_call_series(sp_query *query, const sp_query_request *request,
                               sp_reply *reply) {
  sp_query_plan plan;
  sp_text_set sets;
  series_gathering gathering = {.set = &sets,
                                .names = &request->label_names,
                                .all_names = label_all_names(query)};
  spanprof_status st;
  size_t i;

  sp_query_plan_init(&plan, query);
  sp_text_set_init(&sets, &query->arena);
  sp_buffer_init(&gathering.key, query->mem);
  st = sp_query_plan_range(&plan, request->start_ms, request->end_ms);
  if (!st)
    st = sp_query_plan_matchers(&plan, &request->matchers);
  if (!st)
    st = sp_store_series(query->serve->store, sp_query_plan_selector(&plan),
                         (sp_store_names){request->label_names.texts,
                                          request->label_names.count},
                         series_gather, &gathering);
  st = sp_query_plan_done(&plan, st ? st : gathering.st);
  sp_text_set_sort(&sets);
  /* If no series has any of the requested labels, `sets` has one text, which is
   * empty, and the list is left out. */
  if (!st && sets.count > 0 && (sets.count > 1 || *sets.texts[0])) {
    sp_reply_list(reply, "labelsSet");
    for (i = 0; !st && i < sets.count; i++)
      st = series_put(query, reply, sets.texts[i]);
    sp_reply_list_end(reply);
  }
  sp_buffer_dispose(&gathering.key);
  sp_text_set_dispose(&sets);
  sp_query_plan_dispose(&plan);
  return st;
}
