#include "pprof_labels.h"

static spanprof_status pprof_labels_key(sp_pprof_labels *labels,
                                        const char *key, uint32_t *out) {
  return sp_name_table_intern(labels->names, key, strlen(key), out);
}

spanprof_status sp_pprof_labels_init(sp_pprof_labels *labels, const sp_mem *mem,
                                     sp_name_table *names,
                                     const sp_label_table *lists) {
  spanprof_status st;

  memset(labels, 0, sizeof *labels);
  labels->mem = mem;
  labels->names = names;
  labels->lists = lists;
  st = pprof_labels_key(labels, "profile_id", &labels->key_profile_id);
  if (!st)
    st = pprof_labels_key(labels, "span_id", &labels->key_span_id);
  if (!st)
    st = pprof_labels_key(labels, "trace_id", &labels->key_trace_id);
  return st;
}

void sp_pprof_labels_dispose(sp_pprof_labels *labels) {
  sp_mem_free(labels->mem, labels->spans);
  labels->spans = NULL;
  labels->span_count = labels->span_capacity = 0;
  sp_index_dispose(&labels->span_index, labels->mem);
}

void sp_pprof_labels_begin(sp_pprof_labels *labels) {
  labels->span_count = 0;
  sp_index_clear(&labels->span_index);
}

/* Determine the labels of a span; they are used until the part ends. */
static spanprof_status pprof_labels_describe(sp_pprof_labels *labels,
                                             sp_pprof_part *part,
                                             spanprof_span span,
                                             sp_pprof_span *out) {
  char buffer[SP_LABEL_BYTES_MAX + 1];
  sp_span_view view;
  spanprof_status st;

  *out = (sp_pprof_span){.span = span};
  if (!sp_span_describe(span, buffer, sizeof buffer, &view))
    return SPANPROF_OK;
  out->id = (int64_t)view.id;
  out->parent = view.parent;
  out->id_key =
      view.span_id_label ? labels->key_span_id : labels->key_profile_id;
  st = sp_pprof_part_id(part, view.profile_id, strlen(view.profile_id),
                        &out->profile_id);
  if (!st)
    st = sp_pprof_part_text(part, view.trace_id, strlen(view.trace_id),
                            &out->trace_id);
  if (st || !view.name || !view.name_bytes)
    return st;
  /* Span names stay interned: there are at most span_names_max of them. */
  st = sp_name_table_clean(labels->names, view.name, view.name_bytes,
                           SP_LABEL_BYTES_MAX, &out->name_text);
  if (!st)
    st = pprof_labels_key(labels, view.name_label, &out->name_key);
  if (!st)
    st = sp_pprof_part_name(part, out->name_text, &out->name);
  return st;
}

/* Find or add a span. *out is its index in `spans`. */
static spanprof_status pprof_labels_span(sp_pprof_labels *labels,
                                         sp_pprof_part *part,
                                         spanprof_span span, uint32_t *out) {
  const uint64_t hash = sp_hash_mix(SP_HASH_SEED, span);
  spanprof_status st;
  uint32_t i, at;

  for (i = sp_index_first(&labels->span_index, hash, &at); i != SP_INDEX_NONE;
       i = sp_index_next(&labels->span_index, hash, &at))
    if (labels->spans[i].span == span) {
      *out = i;
      return SPANPROF_OK;
    }
  st = sp_index_reserve(&labels->span_index, labels->mem);
  if (!st)
    st = sp_mem_reserve(labels->mem, (void **)&labels->spans,
                        &labels->span_capacity, labels->span_count + 1,
                        sizeof *labels->spans);
  if (!st)
    st = pprof_labels_describe(labels, part, span,
                               &labels->spans[labels->span_count]);
  if (st)
    return st;
  *out = (uint32_t)labels->span_count++;
  sp_index_add(&labels->span_index, hash, *out);
  return SPANPROF_OK;
}

static void pprof_labels_put(sp_pprof_labels *labels, size_t *count,
                             int64_t key, int64_t text, int64_t number) {
  Perftools__Profiles__Label *label = &labels->labels[*count];

  perftools__profiles__label__init(label);
  label->key = key;
  label->str = text;
  label->num = number;
  labels->pointers[(*count)++] = label;
}

static bool pprof_labels_hidden(const sp_pprof_labels *labels,
                                const sp_pprof_span *span, uint32_t name) {
  if (!span || !span->profile_id)
    return false;
  return name == labels->key_profile_id || name == labels->key_span_id ||
         (span->trace_id && name == labels->key_trace_id) ||
         (span->name && name == span->name_key);
}

static spanprof_status pprof_labels_put_span(sp_pprof_labels *labels,
                                             sp_pprof_part *part,
                                             const sp_pprof_span *span,
                                             size_t *count) {
  spanprof_status st;
  int64_t key;

  st = sp_pprof_part_name(part, span->id_key, &key);
  if (!st)
    pprof_labels_put(labels, count, key, span->profile_id, 0);
  if (!st && span->name) {
    st = sp_pprof_part_name(part, span->name_key, &key);
    pprof_labels_put(labels, count, key, span->name, 0);
  }
  if (!st && span->trace_id) {
    st = sp_pprof_part_name(part, labels->key_trace_id, &key);
    pprof_labels_put(labels, count, key, span->trace_id, 0);
  }
  return st;
}

/* The key of the label that marks the span's descendants' samples. */
static spanprof_status pprof_labels_ancestor_key(sp_pprof_labels *labels,
                                                 sp_pprof_part *part,
                                                 sp_pprof_span *span) {
  static const char prefix[] = SP_PPROF_ANCESTOR;
  char key[sizeof prefix - 1 + SP_LABEL_BYTES_MAX];
  size_t bytes = 0;
  spanprof_status st;
  const char *name;
  uint32_t number;

  if (span->ancestor_key)
    return SPANPROF_OK;
  name = sp_name_table_get(labels->names, span->name_text, &bytes);
  memcpy(key, prefix, sizeof prefix - 1);
  memcpy(key + sizeof prefix - 1, name, bytes);
  /* The key stays interned, like span names. */
  st = sp_name_table_intern(labels->names, key, sizeof prefix - 1 + bytes,
                            &number);
  return st ? st : sp_pprof_part_name(part, number, &span->ancestor_key);
}

static spanprof_status pprof_labels_put_ancestors(sp_pprof_labels *labels,
                                                  sp_pprof_part *part,
                                                  uint32_t at, size_t *count) {
  spanprof_status st = SPANPROF_OK;
  size_t i;

  for (i = 0; i < SP_SPAN_ANCESTORS_MAX && labels->spans[at].parent; i++) {
    uint32_t parent = labels->spans[at].parent_at;

    if (!parent) {
      st = pprof_labels_span(labels, part, labels->spans[at].parent, &parent);
      if (st)
        break;
      labels->spans[at].parent_at = ++parent;
    }
    at = parent - 1;
    if (!labels->spans[at].id)
      break;
    st = pprof_labels_ancestor_key(labels, part, &labels->spans[at]);
    if (st)
      break;
    pprof_labels_put(labels, count, labels->spans[at].ancestor_key, 0,
                     labels->spans[at].id);
  }
  return st;
}

spanprof_status sp_pprof_labels_fill(sp_pprof_labels *labels,
                                     sp_pprof_part *part, uint32_t list,
                                     spanprof_span span, size_t *count) {
  const sp_pprof_span *active = NULL;
  const sp_label_pair *pairs;
  spanprof_status st = SPANPROF_OK;
  size_t pair_count, i;
  int64_t key, value;
  uint32_t at = 0;

  *count = 0;
  if (span)
    st = pprof_labels_span(labels, part, span, &at);
  if (span && !st)
    active = &labels->spans[at];
  pairs = sp_label_table_pairs(labels->lists, list, &pair_count);
  for (i = 0; !st && i < pair_count; i++) {
    if (pprof_labels_hidden(labels, active, pairs[i].name))
      continue;
    st = sp_pprof_part_name(part, pairs[i].name, &key);
    if (!st)
      st = sp_pprof_part_name(part, pairs[i].value, &value);
    if (!st)
      pprof_labels_put(labels, count, key, value, 0);
  }
  if (!st && active && active->profile_id)
    st = pprof_labels_put_span(labels, part, active, count);
  if (!st && active)
    st = pprof_labels_put_ancestors(labels, part, at, count);
  return st;
}
