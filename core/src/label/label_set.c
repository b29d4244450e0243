#include "label_set.h"

#include "label_node.h"
#include "text.h"
#include "util/system/counters.h"
#include "util/system/status.h"
#include "util/text/clean.h"

#define LABEL_VALUES_MAX 1024u

static const char label_other[] = "[other]";

/* Process-wide, because the label values are. */
static _Atomic uint32_t label_values_max = LABEL_VALUES_MAX;

/* Make the set `parent` plus name="[other]", for a value beyond
 * label_values_max. */
static spanprof_status label_other_make(spanprof_labels parent,
                                        spanprof_text_id name,
                                        spanprof_labels *out) {
  spanprof_text_id other;
  spanprof_status st = sp_text_add(label_other, sizeof label_other - 1, &other);

  if (!st)
    st = sp_label_node_make(parent, name, other, out);
  if (!st)
    sp_count(&sp_counts.labels_capped, 1);
  return st;
}

/* Find or intern the text of a value. If the value is unknown and the name has
 * label_values_max values, *capped is set and nothing is interned, so that ever
 * new values do not fill the table of texts. */
static spanprof_status label_value_text(spanprof_text_id name,
                                        const char *value, size_t bytes,
                                        spanprof_text_id *out, bool *capped) {
  *capped = false;
  if (sp_text_find(value, bytes, out))
    return SPANPROF_OK;
  *capped = sp_text_values_full(
      name, atomic_load_explicit(&label_values_max, memory_order_relaxed));
  return *capped ? SPANPROF_OK : sp_text_add(value, bytes, out);
}

/* Make the set `parent` plus name=value, from strings that are clean. */
static spanprof_status set_push_clean(spanprof_labels parent, const char *name,
                                      size_t name_bytes, const char *value,
                                      size_t value_bytes, bool *unchanged,
                                      spanprof_labels *out) {
  spanprof_text_id name_text, value_text;
  bool capped;
  spanprof_status st = sp_text_add(name, name_bytes, &name_text);

  if (!st)
    st = label_value_text(name_text, value, value_bytes, &value_text, &capped);
  if (st)
    return sp_fail(
        st, st == SPANPROF_ERR_LIMIT
                ? "this process has too many different label names and values"
                : "no memory for a label");
  st = capped ? label_other_make(parent, name_text, out)
              : sp_label_set_push_text(parent, name_text, value_text, out);
  if (st)
    return sp_fail(st, st == SPANPROF_ERR_LIMIT
                           ? "there are too many different sets of labels, or "
                             "the set has too many labels"
                           : "no memory for a label");
  *unchanged = !capped && sp_label_node_get(*out)->value == value_text;
  return SPANPROF_OK;
}

/* Does a label between `set` and `node` have the same name? */
static bool label_hidden(spanprof_labels set, const sp_label_node *node) {
  const sp_label_node *inner = sp_label_node_get(set);

  for (; inner != node; inner = sp_label_node_get(inner->parent))
    if (inner->name == node->name)
      return true;
  return false;
}

/* Does the set have the label name=value, and does no inner label hide it? */
static bool set_has(spanprof_labels set, spanprof_text_id name,
                    const char *value, size_t value_bytes) {
  const sp_label_node *node = sp_label_node_get(set);
  spanprof_text_id value_text;

  while (node->depth > 0 && node->name != name)
    node = sp_label_node_get(node->parent);
  return node->depth > 0 && node->value != 0 &&
         sp_text_find(value, value_bytes, &value_text) &&
         node->value == value_text;
}

/* Make the set that has the labels of `set` without those of this name. */
static spanprof_status set_without(spanprof_labels set, spanprof_text_id name,
                                   spanprof_labels *out) {
  const sp_label_node *nodes[SP_LABEL_DEPTH_MAX];
  const sp_label_node *node = sp_label_node_get(set);
  spanprof_status st = SPANPROF_OK;
  size_t count = 0;

  for (; node->depth > 0 && count < SP_LABEL_DEPTH_MAX;
       node = sp_label_node_get(node->parent))
    if (node->name != name && node->value != 0 && !label_hidden(set, node))
      nodes[count++] = node;
  *out = 0;
  while (!st && count > 0) {
    count--;
    st = sp_label_node_make(*out, nodes[count]->name, nodes[count]->value, out);
  }
  if (!st)
    return SPANPROF_OK;
  sp_count(&sp_counts.labels_refused, 1);
  return sp_fail(st, "there are too many different sets of labels");
}

spanprof_status sp_label_set_push_text(spanprof_labels parent,
                                       spanprof_text_id name,
                                       spanprof_text_id value,
                                       spanprof_labels *out) {
  uint32_t max = atomic_load_explicit(&label_values_max, memory_order_relaxed);
  spanprof_status st;

  *out = sp_label_node_find(parent, name, value);
  if (SP_LIKELY(*out))
    return SPANPROF_OK;
  /* An empty value hides an outer label of the name. The server ignores labels
   * with an empty value, so the empty value is not counted as a value of the
   * name. */
  if (value && !sp_label_pair_admit(name, value, max))
    return label_other_make(parent, name, out);
  st = sp_label_node_make(parent, name, value, out);
  if (st == SPANPROF_ERR_LIMIT)
    return label_other_make(parent, name, out);
  if (!st && !value)
    sp_count(&sp_counts.labels_cleaned, 1);
  return st;
}

spanprof_status sp_label_set_push(spanprof_labels parent, const char *name,
                                  size_t name_bytes, const char *value,
                                  size_t value_bytes, bool *unchanged,
                                  spanprof_labels *out) {
  char clean_name[SP_CLEAN_NAME_MAX], clean_value[SP_CLEAN_TEXT_MAX];
  bool changed, clean = sp_clean_name_is(name, name_bytes) &&
                        sp_clean_text_is(value, value_bytes);
  spanprof_status st;

  *unchanged = false;
  *out = 0;
  if (!clean) {
    name_bytes = sp_clean_name(name, name_bytes, clean_name, &changed);
    value_bytes = sp_clean_text(value, value_bytes, clean_value, &changed);
    sp_count(&sp_counts.labels_cleaned, 1);
  }
  st = set_push_clean(parent, clean ? name : clean_name, name_bytes,
                      clean ? value : clean_value, value_bytes, unchanged, out);
  *unchanged = *unchanged && clean;
  if (st)
    sp_count(&sp_counts.labels_refused, 1);
  return st;
}

size_t sp_label_set_list(spanprof_labels set, sp_label *out, size_t max) {
  const sp_label_node *node = sp_label_node_get(set);
  size_t count = 0;

  /* The time is quadratic in the depth, which is at most SP_LABEL_DEPTH_MAX. */
  for (; node->depth > 0 && count < max;
       node = sp_label_node_get(node->parent)) {
    if (node->value == 0 || label_hidden(set, node))
      continue;
    out[count].name = node->name;
    out[count].value = node->value;
    count++;
  }
  return count;
}

void sp_label_set_ready(void) {
  spanprof_text_id other;

  (void)sp_text_add(label_other, sizeof label_other - 1, &other);
}

void sp_label_values_max_set(uint32_t max) {
  atomic_store_explicit(&label_values_max, max, memory_order_relaxed);
}

spanprof_status spanprof_labels_derive(spanprof_labels set, const char *name,
                                       size_t name_bytes, const char *value,
                                       size_t value_bytes,
                                       spanprof_labels *out) {
  char clean_name[SP_CLEAN_NAME_MAX];
  spanprof_text_id name_text;
  bool changed;
  spanprof_status st = SPANPROF_OK;
  size_t bytes = sp_clean_name(name, name_bytes, clean_name, &changed);

  *out = set;
  if (sp_text_find(clean_name, bytes, &name_text)) {
    if (value && set_has(set, name_text, value, value_bytes))
      return SPANPROF_OK;
    st = set_without(set, name_text, out);
  }
  if (!st && value)
    st = sp_label_set_push(*out, name, name_bytes, value, value_bytes, &changed,
                           out);
  if (st)
    *out = set;
  return st;
}
