#include "label_table.h"

#include "label/label_node.h"
#include "label/label_set.h"
#include "label/text.h"
#include "pprof_limits.h"
#include "util/system/counters.h"
#include "util/text/clean.h"

/* Maximum number of labels that are read from a set; a series may have 30. */
#define LABEL_TABLE_SET_MAX SP_LABEL_DEPTH_MAX

static const char *const label_table_series[] = SP_PPROF_SERIES_NAMES;

/* Is this a name in label_table_series? A static label with such a name
 * replaces the label of the series, so the two count as one. */
static bool label_table_is_series(const char *name, size_t bytes) {
  size_t i;

  for (i = 0; i < SP_COUNT_OF(label_table_series); i++)
    if (strlen(label_table_series[i]) == bytes &&
        !memcmp(label_table_series[i], name, bytes))
      return true;
  return false;
}

void sp_label_table_init(sp_label_table *table, const sp_mem *mem,
                         sp_name_table *names, const sp_settings *settings) {
  size_t used = SP_COUNT_OF(label_table_series) + SP_PPROF_SPAN_NAMES +
                SP_PPROF_RESOURCE_NAMES;
  size_t i;

  memset(table, 0, sizeof *table);
  table->mem = mem;
  table->names = names;
  table->settings = settings;
  for (i = 0; i < settings->label_count; i++) {
    const char *name = settings->labels[i].name;

    used += !label_table_is_series(name, strlen(name));
  }
  table->labels_max =
      used < SP_PPROF_LABELS_MAX ? SP_PPROF_LABELS_MAX - used : 0;
}

void sp_label_table_dispose(sp_label_table *table) {
  sp_mem_free(table->mem, table->known);
  sp_mem_free(table->mem, table->lists);
  sp_mem_free(table->mem, table->pairs);
  sp_index_dispose(&table->known_index, table->mem);
  sp_index_dispose(&table->list_index, table->mem);
  sp_label_table_init(table, table->mem, table->names, table->settings);
}

/* Does the series have a label with this name? Then the sample's label is
 * dropped. */
static bool label_table_is_static(const sp_label_table *table, const char *name,
                                  size_t bytes) {
  size_t i;

  if (label_table_is_series(name, bytes))
    return true;
  for (i = 0; i < table->settings->label_count; i++) {
    const char *label = table->settings->labels[i].name;

    if (strlen(label) == bytes && !memcmp(label, name, bytes))
      return true;
  }
  return false;
}

/* Insert a pair, so that pairs stay sorted by name. There are at most
 * LABEL_TABLE_SET_MAX pairs, usually two. */
static void label_table_insert(const sp_label_table *table,
                               sp_label_pair *pairs, size_t count,
                               sp_label_pair pair) {
  size_t bytes, other_bytes, i;
  const char *name = sp_name_table_get(table->names, pair.name, &bytes);

  for (i = count; i > 0; i--) {
    const char *other =
        sp_name_table_get(table->names, pairs[i - 1].name, &other_bytes);
    int order = memcmp(other, name, sp_min_u64(bytes, other_bytes));

    if (order < 0 || (order == 0 && other_bytes < bytes))
      break;
    pairs[i] = pairs[i - 1];
  }
  pairs[i] = pair;
}

/* Intern a label's name in its exported form. *dotted is set if dots were
 * replaced. */
static spanprof_status label_table_name(sp_label_table *table, const char *name,
                                        size_t bytes, uint32_t *out,
                                        bool *dotted) {
  spanprof_status st = sp_name_table_clean(table->names, name, bytes,
                                           SP_PPROF_LABEL_NAME_MAX, out);
  char plain[SP_PPROF_LABEL_NAME_MAX];

  *dotted = false;
  if (st || table->settings->dotted_label_names)
    return st;
  name = sp_name_table_get(table->names, *out, &bytes);
  if (!memchr(name, '.', bytes))
    return SPANPROF_OK;
  memcpy(plain, name, bytes);
  *dotted = sp_clean_dots(plain, bytes);
  return *dotted ? sp_name_table_intern(table->names, plain, bytes, out)
                 : SPANPROF_OK;
}

/* Does the set have a label with a value and exactly this name? */
static bool label_table_has_exact_name(const sp_label *labels, size_t count,
                                       const char *name, size_t bytes) {
  size_t given_bytes, value_bytes, i;

  for (i = 0; i < count; i++) {
    const char *given = sp_text_get(labels[i].name, &given_bytes);

    sp_text_get(labels[i].value, &value_bytes);
    if (value_bytes && given_bytes == bytes && !memcmp(given, name, bytes))
      return true;
  }
  return false;
}

/* Returns the index of the pair with this name, or `count` if there is none. */
static size_t label_table_find(const sp_label_pair *pairs, size_t count,
                               uint32_t name) {
  size_t i;

  for (i = 0; i < count && pairs[i].name != name; i++)
    ;
  return i;
}

/* Read those labels of a set that a sample can have, at most
 * table->labels_max. */
static spanprof_status label_table_read(sp_label_table *table,
                                        spanprof_labels set, sp_label_pair *out,
                                        size_t *count, size_t *capped) {
  sp_label labels[LABEL_TABLE_SET_MAX];
  size_t total = sp_label_set_list(set, labels, LABEL_TABLE_SET_MAX);
  spanprof_status st = SPANPROF_OK;
  size_t i = total;

  *count = *capped = 0;
  /* Start with the outermost label, because the outer labels change least. */
  while (!st && i-- > 0) {
    size_t name_bytes, value_bytes, at;
    const char *name = sp_text_get(labels[i].name, &name_bytes);
    const char *value = sp_text_get(labels[i].value, &value_bytes);
    sp_label_pair pair;
    bool dotted;

    if (!name_bytes || !value_bytes)
      continue;
    st = label_table_name(table, name, name_bytes, &pair.name, &dotted);
    if (!st)
      st = sp_name_table_clean(table->names, value, value_bytes,
                               SP_LABEL_BYTES_MAX, &pair.value);
    if (st)
      break;
    name = sp_name_table_get(table->names, pair.name, &name_bytes);
    at = label_table_find(out, *count, pair.name);
    if (label_table_is_static(table, name, name_bytes) ||
        (dotted && label_table_has_exact_name(labels, total, name, name_bytes)))
      continue;
    if (at < *count)
      out[at].value = pair.value;
    else if (*count == table->labels_max)
      ++*capped;
    else
      label_table_insert(table, out, (*count)++, pair);
  }
  return st;
}

static spanprof_status label_table_list(sp_label_table *table,
                                        const sp_label_pair *pairs,
                                        size_t count, uint32_t *out) {
  const uint64_t hash = sp_hash_bytes(pairs, count * sizeof *pairs);
  spanprof_status st;
  uint32_t i, at;

  for (i = sp_index_first(&table->list_index, hash, &at); i != SP_INDEX_NONE;
       i = sp_index_next(&table->list_index, hash, &at))
    if (table->lists[i].count == count &&
        !memcmp(table->pairs + table->lists[i].at, pairs,
                count * sizeof *pairs)) {
      *out = i + 1;
      return SPANPROF_OK;
    }
  st = sp_index_reserve(&table->list_index, table->mem);
  if (!st)
    st = sp_mem_reserve(table->mem, (void **)&table->lists,
                        &table->list_capacity, table->list_count + 1,
                        sizeof *table->lists);
  if (!st)
    st = sp_mem_reserve(table->mem, (void **)&table->pairs,
                        &table->pair_capacity, table->pair_count + count,
                        sizeof *table->pairs);
  if (st)
    return st;
  memcpy(table->pairs + table->pair_count, pairs, count * sizeof *pairs);
  table->lists[table->list_count] =
      (sp_label_row){(uint32_t)table->pair_count, (uint32_t)count};
  table->pair_count += count;
  sp_index_add(&table->list_index, hash, (uint32_t)table->list_count);
  *out = (uint32_t)++table->list_count;
  return SPANPROF_OK;
}

static spanprof_status label_table_add(sp_label_table *table,
                                       spanprof_labels set, uint64_t hash,
                                       uint32_t *out) {
  sp_label_pair pairs[LABEL_TABLE_SET_MAX];
  size_t count, capped;
  spanprof_status st = label_table_read(table, set, pairs, &count, &capped);

  *out = 0;
  if (!st)
    st = sp_index_reserve(&table->known_index, table->mem);
  if (!st)
    st = sp_mem_reserve(table->mem, (void **)&table->known,
                        &table->known_capacity, table->known_count + 1,
                        sizeof *table->known);
  if (!st && count)
    st = label_table_list(table, pairs, count, out);
  if (st)
    return st;
  table->known[table->known_count] = (sp_label_known){set, *out};
  sp_index_add(&table->known_index, hash, (uint32_t)table->known_count++);
  table->capped += capped;
  sp_count(&sp_counts.labels_capped, capped);
  return SPANPROF_OK;
}

spanprof_status sp_label_table_get(sp_label_table *table, spanprof_labels set,
                                   uint32_t *out) {
  uint64_t hash;
  uint32_t i, at;

  *out = 0;
  if (set == 0)
    return SPANPROF_OK;
  hash = sp_hash_mix(SP_HASH_SEED, set);
  for (i = sp_index_first(&table->known_index, hash, &at); i != SP_INDEX_NONE;
       i = sp_index_next(&table->known_index, hash, &at))
    if (table->known[i].set == set) {
      *out = table->known[i].list;
      return SPANPROF_OK;
    }
  return label_table_add(table, set, hash, out);
}

const sp_label_pair *sp_label_table_pairs(const sp_label_table *table,
                                          uint32_t list, size_t *count) {
  *count = 0;
  if (list == 0)
    return NULL;
  *count = table->lists[list - 1].count;
  return table->pairs + table->lists[list - 1].at;
}

size_t sp_label_table_bytes(const sp_label_table *table) {
  return table->known_capacity * sizeof *table->known +
         table->list_capacity * sizeof *table->lists +
         table->pair_capacity * sizeof *table->pairs +
         sp_index_bytes(&table->known_index) +
         sp_index_bytes(&table->list_index);
}
