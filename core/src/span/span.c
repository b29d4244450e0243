#include "span.h"

#include <endian.h>
#include <string.h>

#include "span_id.h"
#include "span_name.h"
#include "span_rules.h"
#include "span_sweep.h"
#include "span_table.h"
#include "util/memory/struct_copy.h"
#include "util/system/clock.h"
#include "util/system/counters.h"
#include "util/system/status.h"
#include "util/text/hex.h"

/* Maximum size of a cleaned name: see clean.h. */
#define SPAN_NAME_BYTES 2048

/* Initial buffer size; most URLs are shorter. */
#define SPAN_URL_BYTES 255

static uint64_t span_word(const uint8_t *bytes) {
  uint64_t word;

  memcpy(&word, bytes, sizeof word);
  return word;
}

/* Read or generate the ids of the new span, and read those of its parent (0:
 * none) from `info` or from the thread's active span. */
static void span_ids_read(const spanprof_span_info *info, sp_span_ids *own,
                          sp_span_ids *parent) {
  own->trace_id[0] = span_word(info->trace_id);
  own->trace_id[1] = span_word(info->trace_id + 8);
  own->span_id = span_word(info->span_id);
  *parent = *own;
  parent->span_id = span_word(info->parent_id);
  if (own->span_id)
    return;
  own->span_id = sp_span_id_next();
  if (!parent->span_id && !(info->flags & SPANPROF_SPAN_PARENT_REMOTE)) {
    const sp_span *active = sp_span_get(spanprof_span_active());

    if (!active)
      return;
    parent->span_id =
        atomic_load_explicit(&active->span_id, memory_order_relaxed);
    parent->trace_id[0] =
        atomic_load_explicit(&active->trace_id[0], memory_order_relaxed);
    parent->trace_id[1] =
        atomic_load_explicit(&active->trace_id[1], memory_order_relaxed);
  }
}

/* Return the carried span (span.h) of the span `number`: samples have its id
 * while `number` is active. */
static spanprof_span span_carried_of(const spanprof_span_rules *rules,
                                     bool traced, spanprof_span number,
                                     const sp_span_family *family) {
  const sp_span *root;

  if (!rules->root_span_only)
    return traced ? number : family->carried;
  if (family->root == number)
    return traced ? number : 0;
  root = family->root ? sp_span_get(family->root) : NULL;
  return root && (atomic_load_explicit(&root->state, memory_order_relaxed) &
                  SP_SPAN_TRACED)
             ? family->root
             : 0;
}

/* The nearest sampled local ancestor of the span `number`, for its samples.
 * Returns 0 if there is none, if the samples have the id of another span
 * (`carried`), or if the chain of ancestors has reached SP_SPAN_CHAIN_MAX. */
static spanprof_span span_parent_of(const spanprof_span_rules *rules,
                                    spanprof_span number, spanprof_span carried,
                                    const sp_span_family *family) {
  const sp_span *parent;

  if (rules->root_span_only || carried != number || family->carried == number)
    return 0;
  /* The reference of `family` keeps this span alive. */
  parent = family->carried ? sp_span_get(family->carried) : NULL;
  return parent && parent->chain < SP_SPAN_CHAIN_MAX ? family->carried : 0;
}

/* Fill in the fields that depend on `family`, the spans that the new span
 * inherits from its parent, and move the references of `family` to the new
 * span. */
static void span_fill(sp_span *span, spanprof_span number,
                      const spanprof_span_rules *rules, bool traced,
                      const sp_span_ids *ids, const sp_span_family *family) {
  spanprof_span carried = span_carried_of(rules, traced, number, family);
  spanprof_span parent = span_parent_of(rules, number, carried, family);

  /* `family` owns one reference to its root and one to the span that the parent
   * carries. `span` will own one to its root, one to its parent, and one to the
   * span that it carries, unless it carries itself. */
  span->chain = parent ? sp_span_get(parent)->chain + 1 : 0;
  if (!parent && carried != family->carried) {
    if (carried != number)
      sp_span_table_ref(carried);
    sp_span_table_unref(family->carried);
  }
  atomic_store_explicit(&span->carried, carried, memory_order_release);
  atomic_store_explicit(&span->root, family->root, memory_order_release);
  atomic_store_explicit(&span->parent, parent, memory_order_release);
  atomic_store_explicit(&span->span_id, ids->span_id, memory_order_release);
  atomic_store_explicit(&span->trace_id[0], ids->trace_id[0],
                        memory_order_release);
  atomic_store_explicit(&span->trace_id[1], ids->trace_id[1],
                        memory_order_release);
  atomic_store_explicit(&span->refs, 0, memory_order_release);
}

/* Read a span's ids, parent and bits. Returns false if the number is no longer
 * valid. */
static bool span_ids_of(spanprof_span number, sp_span_ids *out,
                        spanprof_span *parent, uint32_t *bits) {
  const sp_span *span = sp_span_get(number);

  if (!span)
    return false;
  out->span_id = atomic_load_explicit(&span->span_id, memory_order_acquire);
  out->trace_id[0] =
      atomic_load_explicit(&span->trace_id[0], memory_order_acquire);
  out->trace_id[1] =
      atomic_load_explicit(&span->trace_id[1], memory_order_acquire);
  *parent = atomic_load_explicit(&span->parent, memory_order_acquire);
  *bits = (uint32_t)atomic_load_explicit(&span->state, memory_order_acquire);
  return sp_span_same(span, number);
}

bool sp_span_describe(spanprof_span span, char *name_buffer, size_t size,
                      sp_span_view *out) {
  spanprof_span parent;
  sp_span_ids ids;
  uint32_t bits;

  memset(out, 0, sizeof *out);
  if (!span || !span_ids_of(span, &ids, &parent, &bits))
    return false;
  sp_hex_write(&ids.span_id, sizeof ids.span_id, out->profile_id);
  out->id = be64toh(ids.span_id);
  out->parent = parent;
  out->span_id_label = bits & SP_SPAN_ID_LABEL;
  if (bits & SP_SPAN_ADD_TRACE_ID)
    sp_hex_write(ids.trace_id, sizeof ids.trace_id, out->trace_id);
  out->name_label = bits & SP_SPAN_LEGACY_LABEL ? "span" : "span_name";
  if (!(bits & SP_SPAN_ADD_NAME))
    return true;
  out->name = name_buffer;
  return sp_span_name_use(span, name_buffer, size, &out->name_bytes);
}

spanprof_span spanprof_span_carried(spanprof_span span) {
  return sp_span_carried(span);
}

const char *spanprof_span_attribute_key(spanprof_span_attribute attribute) {
  static const char *const keys[] = {
      "pyroscope.profile.id",
      "pyroscope.profile.url",
      "pyroscope.profile.baseline.url",
      "pyroscope.profile.diff.url",
  };

  return (unsigned)attribute < SP_COUNT_OF(keys) ? keys[attribute] : "";
}

/* Copy the value of an attribute to the caller's buffer. */
static spanprof_status span_attribute_copy(spanprof_span_attribute attribute,
                                           const char *text, size_t bytes,
                                           char *buffer, size_t size,
                                           size_t *length) {
  *length = bytes;
  if (bytes == 0)
    return SPANPROF_OK;
  if (bytes >= size)
    return sp_fail(SPANPROF_ERR_LIMIT, "the buffer needs %zu bytes for %s",
                   bytes + 1, spanprof_span_attribute_key(attribute));
  memcpy(buffer, text, bytes);
  buffer[bytes] = '\0';
  return SPANPROF_OK;
}

static spanprof_status span_url_at(const spanprof_span_rules *rules,
                                   spanprof_span span, const sp_span_ids *ids,
                                   const char *profile_id,
                                   spanprof_span_attribute attribute,
                                   int64_t now_s, char *buffer, size_t size,
                                   size_t *length) {
  char trace_id[33] = "", name[SPAN_NAME_BYTES];
  sp_url_span view = {profile_id, trace_id, name, 0};
  sp_buffer text;
  spanprof_status st;

  if (rules->url_template) {
    sp_hex_write(ids->trace_id, sizeof ids->trace_id, trace_id);
    sp_span_name_copy(span, name, sizeof name, &view.name_bytes);
  }
  sp_buffer_init(&text, &sp_mem_default);
  sp_buffer_reserve(&text, SPAN_URL_BYTES);
  sp_span_rules_url(rules, attribute, &view, now_s, &text);
  st = sp_buffer_status(&text);
  if (st)
    sp_fail(st, "no memory for a span attribute");
  else
    st = span_attribute_copy(attribute, text.data, text.size, buffer, size,
                             length);
  sp_buffer_dispose(&text);
  return st;
}

static bool span_attribute_added(const spanprof_span_rules *rules,
                                 spanprof_span_attribute attribute) {
  return attribute == SPANPROF_ATTRIBUTE_PROFILE_ID ||
         sp_span_rules_adds(rules ? rules : &sp_span_rules_default, attribute);
}

spanprof_status sp_span_attribute_at(const spanprof_span_rules *rules,
                                     spanprof_span span,
                                     spanprof_span_attribute attribute,
                                     int64_t now_s, char *buffer, size_t size,
                                     size_t *length) {
  char profile_id[17];
  spanprof_span parent;
  sp_span_ids ids;
  uint32_t bits;

  *length = 0;
  if (size)
    buffer[0] = '\0';
  if (!spanprof_span_attribute_key(attribute)[0])
    return sp_fail(SPANPROF_ERR_ARGUMENT,
                   "there is no span attribute with this number");
  if (!span || !span_attribute_added(rules, attribute) ||
      sp_span_carried(span) != span || !span_ids_of(span, &ids, &parent, &bits))
    return SPANPROF_OK;
  sp_hex_write(&ids.span_id, sizeof ids.span_id, profile_id);
  if (attribute == SPANPROF_ATTRIBUTE_PROFILE_ID)
    return span_attribute_copy(attribute, profile_id, sizeof profile_id - 1,
                               buffer, size, length);
  return span_url_at(rules ? rules : &sp_span_rules_default, span, &ids,
                     profile_id, attribute, now_s, buffer, size, length);
}

static spanprof_status span_refuse(spanprof_status st) {
  sp_count(&sp_counts.spans_refused, 1);
  return sp_fail(st, st == SPANPROF_ERR_LIMIT ? "too many spans are open"
                                              : "no memory for a span");
}

spanprof_status spanprof_span_start(const spanprof_span_rules *rules,
                                    const spanprof_span_info *info,
                                    spanprof_span *out) {
  sp_span_family family = {0};
  sp_span_ids ids, parent;
  bool traced, root;
  spanprof_span number;
  sp_span *span;
  spanprof_status st;

  *out = 0;
  /* The first version of the structure was the smallest; its size is the
   * minimum. */
  if (!info ||
      info->struct_size < SP_STRUCT_UP_TO(spanprof_span_info, name_bytes) ||
      info->struct_size > sizeof *info || !info->name)
    return sp_fail(SPANPROF_ERR_ARGUMENT,
                   "spanprof_span_info has no name, or its struct_size is "
                   "wrong: set it to sizeof(spanprof_span_info)");
  if (!rules)
    rules = &sp_span_rules_default;
  st = sp_span_pool_acquire(&span, &number);
  if (st)
    return span_refuse(st);
  span_ids_read(info, &ids, &parent);
  traced = !(info->flags & SPANPROF_SPAN_UNSAMPLED);
  root = !parent.span_id || (info->flags & SPANPROF_SPAN_PARENT_REMOTE);
  if (root) {
    family.root = number;
  } else {
    sp_span_table_family(&parent, &family);
    if (!(ids.trace_id[0] | ids.trace_id[1]))
      memcpy(ids.trace_id, family.trace_id, sizeof ids.trace_id);
  }
  if (!(ids.trace_id[0] | ids.trace_id[1])) {
    ids.trace_id[0] = sp_span_id_next();
    ids.trace_id[1] = sp_span_id_next();
  }
  span_fill(span, number, rules, traced, &ids, &family);
  sp_span_name_init(span, info->name, info->name_bytes);
  sp_span_pool_publish(span, number,
                       SP_SPAN_LIVE | rules->span_bits |
                           (traced ? SP_SPAN_TRACED : 0) |
                           (root ? SP_SPAN_ROOT : 0));
  st = sp_span_table_add(span, number);
  if (st) {
    sp_span_table_drop(span);
    sp_span_sweep_free(span, number);
    return span_refuse(st);
  }
  sp_count(&sp_counts.spans_started, 1);
  sp_count(&sp_counts.spans_live, 1);
  *out = number;
  return SPANPROF_OK;
}

void spanprof_span_rename(spanprof_span span, const char *name,
                          size_t name_bytes) {
  if (span && name)
    sp_span_name_set(span, name, name_bytes);
}

void spanprof_span_end(spanprof_span number) {
  sp_span *span = number ? sp_span_get(number) : NULL;
  uint64_t state;

  if (!span)
    return;
  state = atomic_load_explicit(&span->state, memory_order_relaxed);
  do {
    /* Do nothing if the span was freed and its memory reused, or if another
     * thread ended it. */
    if (state >> 32 != number >> 32 || !(state & SP_SPAN_LIVE) ||
        (state & SP_SPAN_ENDED))
      return;
  } while (!atomic_compare_exchange_weak_explicit(
      &span->state, &state, state | SP_SPAN_ENDED, memory_order_acq_rel,
      memory_order_relaxed));
  sp_count_down(&sp_counts.spans_live);
  sp_span_sweep_ended(span, number);
}

int spanprof_span_retain(spanprof_span span) {
  return sp_span_table_retain(span);
}

void spanprof_span_release(spanprof_span span) {
  sp_span_table_unref(span);
}

spanprof_status spanprof_span_attribute_get(const spanprof_span_rules *rules,
                                            spanprof_span span,
                                            spanprof_span_attribute attribute,
                                            char *buffer, size_t size,
                                            size_t *length) {
  /* Read the clock only for URLs, because only they contain a time. */
  bool timed = attribute != SPANPROF_ATTRIBUTE_PROFILE_ID &&
               span_attribute_added(rules, attribute);
  int64_t now_s =
      timed ? (int64_t)(sp_clock_unix_ns(sp_clock_system()) / SP_NS_PER_S) : 0;

  return sp_span_attribute_at(rules, span, attribute, now_s, buffer, size,
                              length);
}
