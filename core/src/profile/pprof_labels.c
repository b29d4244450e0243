#include "pprof_labels.h"

#include "../label/span.h"

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

/* What a span's labels are, now and for the rest of the part. */
static spanprof_status pprof_labels_describe(sp_pprof_labels *labels,
                                             sp_pprof_part *part,
                                             spanprof_span span,
                                             sp_pprof_span *out) {
  char buffer[SP_LABEL_BYTES_MAX + 1];
  sp_span_view view;
  spanprof_status st;
  uint32_t name = 0;

  *out = (sp_pprof_span){.span = span};
  if (!sp_span_describe(span, buffer, sizeof buffer, &view))
    return SPANPROF_OK;
  st = sp_pprof_part_text(part, view.profile_id, strlen(view.profile_id),
                          &out->profile_id);
  if (!st)
    st = sp_pprof_part_text(part, view.trace_id, strlen(view.trace_id),
                            &out->trace_id);
  if (st || !view.name || !view.name_bytes)
    return st;
  /* Interned for good: there are at most span_names_max of them. */
  st = sp_name_table_clean(labels->names, view.name, view.name_bytes,
                           SP_LABEL_BYTES_MAX, &name);
  if (!st)
    st = pprof_labels_key(labels, view.name_label, &out->name_key);
  if (!st)
    st = sp_pprof_part_name(part, name, &out->name);
  return st;
}

static spanprof_status pprof_labels_span(sp_pprof_labels *labels,
                                         sp_pprof_part *part,
                                         spanprof_span span,
                                         const sp_pprof_span **out) {
  const uint64_t hash = sp_hash_mix(SP_HASH_SEED, span);
  spanprof_status st;
  uint32_t i, at;

  for (i = sp_index_first(&labels->span_index, hash, &at); i != SP_INDEX_NONE;
       i = sp_index_next(&labels->span_index, hash, &at))
    if (labels->spans[i].span == span) {
      *out = &labels->spans[i];
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
  *out = &labels->spans[labels->span_count];
  sp_index_add(&labels->span_index, hash, (uint32_t)labels->span_count++);
  return SPANPROF_OK;
}

static void pprof_labels_put(sp_pprof_labels *labels, size_t *count,
                             int64_t key, int64_t text) {
  Perftools__Profiles__Label *label = &labels->labels[*count];

  perftools__profiles__label__init(label);
  label->key = key;
  label->str = text;
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

  st = sp_pprof_part_name(part, labels->key_profile_id, &key);
  if (!st)
    pprof_labels_put(labels, count, key, span->profile_id);
  if (!st && span->name) {
    st = sp_pprof_part_name(part, span->name_key, &key);
    pprof_labels_put(labels, count, key, span->name);
  }
  if (!st && span->trace_id) {
    st = sp_pprof_part_name(part, labels->key_trace_id, &key);
    pprof_labels_put(labels, count, key, span->trace_id);
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

  *count = 0;
  if (span)
    st = pprof_labels_span(labels, part, span, &active);
  pairs = sp_label_table_pairs(labels->lists, list, &pair_count);
  for (i = 0; !st && i < pair_count; i++) {
    if (pprof_labels_hidden(labels, active, pairs[i].name))
      continue;
    st = sp_pprof_part_name(part, pairs[i].name, &key);
    if (!st)
      st = sp_pprof_part_name(part, pairs[i].value, &value);
    if (!st)
      pprof_labels_put(labels, count, key, value);
  }
  if (!st && active && active->profile_id)
    st = pprof_labels_put_span(labels, part, active, count);
  return st;
}
