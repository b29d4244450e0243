#include "select_source.h"

#include <stdio.h>
#include <string.h>

#include "util/system/status.h"

/* Number of labels that are made from a profile's type. */
#define SERIES_RESERVED 6

/* Largest number of labels of one series. */
#define SERIES_LABELS_MAX 1024

spanprof_status sp_series_no_memory(spanprof_status st) {
  return st == SPANPROF_ERR_LIMIT
             ? sp_fail(st, "the query has too many series: narrow it down")
             : st;
}

static spanprof_status series_text(sp_text_cache *in, sp_column_reader *reader,
                                   const char **out) {
  return sp_series_no_memory(sp_text_cache_get(in, sp_get_number(reader), out));
}

/* Returns whether the selector uses a label. */
static bool series_uses_label(const sp_selector *selector, const char *name) {
  size_t i;

  for (i = 0; i < selector->matcher_count; i++)
    if (strcmp(selector->matchers[i].name, name) == 0)
      return true;
  return strcmp(name, "service_name") == 0; /* __service_name__ is made from
                                             * this label */
}

spanprof_status sp_series_read_labels(sp_text_cache *in,
                                      sp_column_reader *reader,
                                      const sp_selector *only,
                                      sp_text_pair **out, size_t *count) {
  size_t all = sp_get_count(reader), i;
  spanprof_status st = SPANPROF_OK;

  *count = 0;
  if (all > SERIES_LABELS_MAX)
    all = 0;
  *out = sp_arena_new(&in->arena, all + 1, sizeof **out);
  if (!*out)
    return sp_series_no_memory(in->arena.st);
  for (i = 0; !st && i < all; i++) {
    sp_text_pair *pair = &(*out)[*count];

    st = series_text(in, reader, &pair->name);
    if (!st && only && !series_uses_label(only, pair->name)) {
      sp_get_number(reader);
      continue;
    }
    if (!st)
      st = series_text(in, reader, &pair->value);
    ++*count;
  }
  return st;
}

static spanprof_status series_type_id(sp_text_cache *in,
                                      sp_series_source *source, size_t type,
                                      const char *name) {
  const char *const *of = source->types[type];
  const char *const *period = source->types[source->type_count];
  const size_t size = strlen(name) + strlen(of[0]) + strlen(of[1]) +
                      strlen(period[0]) + strlen(period[1]) + 5;
  char *id = sp_arena_new(&in->arena, size, 1);

  if (!id)
    return sp_series_no_memory(in->arena.st);
  snprintf(id, size, "%s:%s:%s:%s:%s", name, of[0], of[1], period[0],
           period[1]);
  source->type_ids[type] = id;
  if (strcmp(of[0], "samples") == 0 && strcmp(of[1], "count") == 0)
    source->counts = (uint32_t)type;
  return SPANPROF_OK;
}

spanprof_status sp_series_source_read(sp_text_cache *in,
                                      sp_series_source *source,
                                      const void *bytes, size_t size) {
  sp_column_reader reader = sp_column_reader_of(bytes, size);
  const char *name;
  sp_text_pairs labels;
  spanprof_status st = SPANPROF_OK;
  size_t i;

  source->type_count = (size_t)sp_get_number(&reader);
  if (source->type_count > SP_BLOCK_TYPES_MAX)
    return sp_fail(SPANPROF_ERR_FORMAT, "a source of the store is damaged");
  for (i = 0; !st && i < 2 * (source->type_count + 1); i++)
    st = series_text(in, &reader, &source->types[i / 2][i % 2]);
  if (!st)
    st = sp_series_read_labels(in, &reader, NULL, &source->labels,
                               &source->label_count);
  if (st)
    return st;
  labels = (sp_text_pairs){source->labels, source->label_count};
  name = sp_text_pairs_find(&labels, "__name__");
  /* Sources in stores of earlier versions do not have a period. */
  source->period = reader.at < reader.end ? sp_get_signed(&reader) : 0;
  source->counts = SP_SELECT_NO_COUNTS;
  for (i = 0; !st && i < source->type_count; i++)
    st = series_type_id(in, source, i, name ? name : "");
  return st;
}

static void series_insert(sp_text_pairs *labels, sp_text_pair *pairs,
                          const char *name, const char *value, bool replace) {
  size_t at;
  int order = 1;

  for (at = 0; at < labels->count; at++) {
    order = strcmp(name, pairs[at].name);
    if (order <= 0)
      break;
  }
  if (order == 0) {
    if (replace)
      pairs[at].value = value;
    return;
  }
  memmove(&pairs[at + 1], &pairs[at], (labels->count - at) * sizeof *pairs);
  pairs[at] = (sp_text_pair){.name = name, .value = value};
  labels->count++;
}

spanprof_status sp_series_labels(sp_arena *arena,
                                 const sp_series_source *source, size_t type,
                                 const sp_text_pair *own, size_t own_count,
                                 sp_text_pairs *out) {
  const char *const *period = source->types[source->type_count];
  const char *const made[SERIES_RESERVED - 1][2] = {
      {"__type__", source->types[type][0]},
      {"__unit__", source->types[type][1]},
      {"__period_type__", period[0]},
      {"__period_unit__", period[1]},
      {"__profile_type__", source->type_ids[type]},
  };
  sp_text_pair *pairs = sp_arena_new(
      arena, source->label_count + own_count + SERIES_RESERVED, sizeof *pairs);
  const char *service;
  size_t i;

  if (!pairs)
    return sp_series_no_memory(arena->st);
  *out = (sp_text_pairs){.pairs = pairs};
  for (i = 0; i < source->label_count; i++)
    series_insert(out, pairs, source->labels[i].name, source->labels[i].value,
                  false);
  for (i = 0; i < own_count; i++)
    series_insert(out, pairs, own[i].name, own[i].value, false);
  for (i = 0; i < SP_COUNT_OF(made); i++)
    if (*made[i][1])
      series_insert(out, pairs, made[i][0], made[i][1], true);
  service = sp_text_pairs_find(out, "service_name");
  if (service)
    series_insert(out, pairs, "__service_name__", service, true);
  return SPANPROF_OK;
}
