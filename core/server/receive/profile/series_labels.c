#include "series_labels.h"

#include <stdlib.h>

#include "server/query/selector/label_lexer.h"
#include "util/text/utf8.h"

/* A label that identifies one process. With it, each run of a program would
 * have a series of its own. */
#define LABELS_SESSION "__session_id__"

/* Most bytes of a name or value that a message contains. */
#define LABELS_SHOWN_MAX 4096

void sp_series_labels_init(sp_series_labels *labels, const sp_mem *mem) {
  *labels = (sp_series_labels){.mem = mem};
}

void sp_series_labels_dispose(sp_series_labels *labels) {
  sp_mem_free(labels->mem, labels->labels);
  sp_series_labels_init(labels, labels->mem);
}

void sp_series_labels_clear(sp_series_labels *labels) {
  labels->count = 0;
}

spanprof_status sp_series_labels_add(sp_series_labels *labels, sp_view name,
                                     sp_view value) {
  spanprof_status st =
      sp_mem_reserve(labels->mem, (void **)&labels->labels, &labels->capacity,
                     labels->count + 1, sizeof *labels->labels);

  if (!st)
    labels->labels[labels->count++] = (sp_series_label){name, value};
  return st;
}

sp_view sp_series_labels_get(const sp_series_labels *labels, sp_view name) {
  size_t i;

  for (i = 0; i < labels->count; i++)
    if (sp_view_equal(labels->labels[i].name, name))
      return labels->labels[i].value;
  return sp_view_of("", 0);
}

static int labels_order(const void *a, const void *b) {
  const sp_series_label *x = a, *y = b;
  const int order = sp_view_compare(x->name, y->name);

  return order ? order : sp_view_compare(x->value, y->value);
}

void sp_series_labels_sort(sp_series_labels *labels) {
  if (labels->count > 1)
    qsort(labels->labels, labels->count, sizeof *labels->labels, labels_order);
}

/* These labels count for the limit of labels, but are not stored. The server
 * adds some of them itself for each type; the others only concern the
 * transport. */
bool sp_series_label_is_own(sp_view name) {
  return sp_view_is(name, "__delta__") ||
         sp_view_is(name, "__profile_type__") ||
         sp_view_is(name, LABELS_SESSION);
}

/* The labels are sorted by name and value, so an empty value comes first among
 * the labels of a name. */
void sp_series_labels_drop(sp_series_labels *labels) {
  sp_view emptied = {"", 0};
  bool is_emptied = false;
  size_t i, count_after = 0;

  sp_series_labels_sort(labels);
  for (i = 0; i < labels->count; i++) {
    const sp_series_label *label = &labels->labels[i];

    if (!label->value.size) {
      emptied = label->name;
      is_emptied = true;
    }
    if (is_emptied && sp_view_equal(label->name, emptied))
      continue;
    if (!sp_view_is(label->name, LABELS_SESSION))
      labels->labels[count_after++] = *label;
  }
  labels->count = count_after;
}

void sp_series_labels_print(const sp_series_labels *labels, sp_buffer *out) {
  size_t i;

  sp_buffer_append(out, "{", 1);
  for (i = 0; i < labels->count; i++) {
    if (i)
      sp_buffer_append(out, ", ", 2);
    sp_buffer_append(out, labels->labels[i].name.bytes,
                     sp_min_u64(labels->labels[i].name.size, LABELS_SHOWN_MAX));
    sp_buffer_append(out, "=", 1);
    sp_label_quote(out, labels->labels[i].value.bytes,
                   sp_min_u64(labels->labels[i].value.size, LABELS_SHOWN_MAX));
  }
  sp_buffer_append(out, "}", 1);
}

/* Check one label. `last` is the label before it in the order. */
static spanprof_status labels_check_one(const sp_series_label *label,
                                        const sp_series_label *last,
                                        const sp_limits *limits,
                                        const char *all, sp_refusal *refusal) {
  const int name_size = (int)sp_min_u64(label->name.size, LABELS_SHOWN_MAX);
  const int value_size = (int)sp_min_u64(label->value.size, LABELS_SHOWN_MAX);

  if (label->name.size > SP_SERIES_LABEL_NAME_MAX)
    return sp_refuse(refusal, SP_REFUSAL_INVALID,
                     "profile with labels '%s' has label name too long: '%.*s'",
                     all, name_size, label->name.bytes);
  if (label->value.size > limits->label_value_bytes)
    return sp_refuse(
        refusal, SP_REFUSAL_INVALID,
        "profile with labels '%s' has label value too long: '%.*s'", all,
        value_size, label->value.bytes);
  if (!label->name.size || !sp_utf8_valid(label->name.bytes, label->name.size))
    return sp_refuse(
        refusal, SP_REFUSAL_INVALID,
        "invalid labels '%s' with error: invalid label name '%.*s'", all,
        name_size, label->name.bytes);
  if (!sp_utf8_valid(label->value.bytes, label->value.size))
    return sp_refuse(
        refusal, SP_REFUSAL_INVALID,
        "invalid labels '%s' with error: invalid label value '%.*s'", all,
        value_size, label->value.bytes);
  if (last && sp_view_equal(label->name, last->name))
    return sp_refuse(
        refusal, SP_REFUSAL_INVALID,
        "profile with labels '%s' has duplicate label name: '%.*s'", all,
        name_size, label->name.bytes);
  return SPANPROF_OK;
}

static bool labels_one_is_sound(const sp_series_label *label,
                                const sp_series_label *last,
                                const sp_limits *limits) {
  return label->name.size && label->name.size <= SP_SERIES_LABEL_NAME_MAX &&
         label->value.size <= limits->label_value_bytes &&
         sp_utf8_valid(label->name.bytes, label->name.size) &&
         sp_utf8_valid(label->value.bytes, label->value.size) &&
         !(last && sp_view_equal(label->name, last->name));
}

/* Returns whether all labels are valid, without making the text for messages.
 * This is called often: for each label set of a profile's samples. */
static bool labels_are_sound(const sp_series_labels *labels,
                             const sp_limits *limits) {
  const sp_view name = sp_series_labels_get(labels, sp_view_text("__name__"));
  size_t i;

  if (labels->count > limits->series_labels || !name.size ||
      !sp_series_labels_get(labels, sp_view_text("service_name")).size)
    return false;
  for (i = 0; i < labels->count; i++)
    if (!labels_one_is_sound(&labels->labels[i],
                             i ? &labels->labels[i - 1] : NULL, limits))
      return false;
  return true;
}

static spanprof_status labels_check(const sp_series_labels *labels,
                                    const sp_limits *limits, const char *all,
                                    sp_refusal *refusal) {
  const sp_view name = sp_series_labels_get(labels, sp_view_text("__name__"));
  spanprof_status st = SPANPROF_OK;
  size_t i;

  if (labels->count > limits->series_labels)
    return sp_refuse(refusal, SP_REFUSAL_INVALID,
                     "profile series '%s' has %zu label names; limit %zu", all,
                     labels->count, limits->series_labels);
  if (!name.size || !sp_utf8_valid(name.bytes, name.size))
    return sp_refuse(refusal, SP_REFUSAL_INVALID,
                     "invalid labels '%s' with error: invalid metric name",
                     all);
  if (!sp_series_labels_get(labels, sp_view_text("service_name")).size)
    return sp_refuse(
        refusal, SP_REFUSAL_INVALID,
        "invalid labels '%s' with error: service name is not provided", all);
  for (i = 0; !st && i < labels->count; i++)
    st = labels_check_one(&labels->labels[i], i ? &labels->labels[i - 1] : NULL,
                          limits, all, refusal);
  return st;
}

spanprof_status sp_series_labels_check(const sp_series_labels *labels,
                                       const sp_limits *limits,
                                       sp_refusal *refusal) {
  spanprof_status st;
  sp_buffer all;

  if (labels_are_sound(labels, limits))
    return SPANPROF_OK;
  sp_buffer_init(&all, labels->mem);
  sp_series_labels_print(labels, &all);
  sp_buffer_append(&all, "", 1);
  st = sp_buffer_status(&all);
  if (!st)
    st = labels_check(labels, limits, all.data, refusal);
  sp_buffer_dispose(&all);
  return st;
}
