#include "label_node.h"
#include "label_set.h"
#include "text.h"
#include "tls.h"
#include "util/memory/hash.h"
#include "util/system/counters.h"
#include "util/system/status.h"

/* A token consists of the numbers of the label set before the push and after
 * it. The set after the push shows whether the push is still in effect. With
 * the set before the push, the common pop needs no lookup. */
#define LABEL_TOKEN_SHIFT 32

/* Strings of up to this length are compared only by sp_label_cache_ends, which
 * contains all their bytes. */
#define LABEL_ENDS_BYTES 16

SP_SIGNAL_SAFE static inline sp_label_cache_ends label_ends(const char *text,
                                                            size_t bytes) {
  sp_label_cache_ends ends = {0, 0};

  if (bytes >= 8) {
    memcpy(&ends.first, text, 8);
    memcpy(&ends.last, text + bytes - 8, 8);
  } else if (bytes >= 4) {
    uint32_t first, last;

    memcpy(&first, text, 4);
    memcpy(&last, text + bytes - 4, 4);
    ends.first = first;
    ends.last = last;
  } else if (bytes > 0) {
    ends.first = (uint64_t)(unsigned char)text[0] |
                 (uint64_t)(unsigned char)text[bytes / 2] << 8 |
                 (uint64_t)(unsigned char)text[bytes - 1] << 16;
  }
  return ends;
}

SP_SIGNAL_SAFE static bool label_text_is(spanprof_text_id number,
                                         const char *text, size_t bytes) {
  size_t size;
  const char *interned = sp_text_get(number, &size);

  return size == bytes && memcmp(interned, text, bytes) == 0;
}

/* Are these strings the name and value of the innermost label of `set`? */
SP_SIGNAL_SAFE static bool
label_strings_are(spanprof_labels set, const char *name, size_t name_bytes,
                  const char *value, size_t value_bytes) {
  const sp_label_node *node = sp_label_node_get(set);

  return label_text_is(node->name, name, name_bytes) &&
         label_text_is(node->value, value, value_bytes);
}

SP_SIGNAL_SAFE static inline sp_label_cache_text *
label_text_entry(sp_label_cache *cache, spanprof_labels parent,
                 spanprof_text_id name, spanprof_text_id value) {
  uint64_t hash = (((uint64_t)name << 32 | value) + parent) * SP_HASH_SEED;

  return &cache->texts[hash >> 60];
}

/* Return the version of the cache. A reader reads the version before and after
 * it reads an entry: if both versions are equal and even, no signal handler has
 * written to the cache between the two reads. The cast keeps the compiler from
 * merging the two reads. */
SP_SIGNAL_SAFE static inline uint32_t
label_cache_version(const sp_label_cache *cache) {
  uint32_t version;

  atomic_signal_fence(memory_order_acq_rel);
  version = *(const volatile uint32_t *)&cache->version;
  atomic_signal_fence(memory_order_acq_rel);
  return version;
}

SP_SIGNAL_SAFE static void label_text_cache(sp_label_cache *cache,
                                            spanprof_labels set,
                                            spanprof_labels parent,
                                            spanprof_text_id name,
                                            spanprof_text_id value) {
  sp_label_cache_text *entry = label_text_entry(cache, parent, name, value);
  volatile sp_label_cache_text *slot = entry;
  volatile uint32_t *version = &cache->version;

  if (*version & 1)
    return;
  *version = *version + 1;
  slot->set = 0;
  slot->parent = parent;
  slot->name = name;
  slot->value = value;
  slot->set = set;
  *version = *version + 1;
}

SP_SIGNAL_SAFE static void
label_string_cache(sp_label_cache *cache, sp_label_cache_string *entry,
                   spanprof_labels set, spanprof_labels parent,
                   const char *name, size_t name_bytes, const char *value,
                   size_t value_bytes) {
  volatile sp_label_cache_string *slot = entry;
  volatile uint32_t *version = &cache->version;
  sp_label_cache_ends name_ends = label_ends(name, name_bytes);
  sp_label_cache_ends value_ends = label_ends(value, value_bytes);

  if (*version & 1)
    return;
  *version = *version + 1;
  slot->set = 0;
  slot->parent = parent;
  slot->name_bytes = (uint32_t)name_bytes;
  slot->value_bytes = (uint32_t)value_bytes;
  slot->name.first = name_ends.first;
  slot->name.last = name_ends.last;
  slot->value.first = value_ends.first;
  slot->value.last = value_ends.last;
  slot->set = set;
  *version = *version + 1;
}

SP_SIGNAL_SAFE static inline void label_pushed(spanprof_context *context,
                                               spanprof_labels parent,
                                               spanprof_labels set,
                                               spanprof_label_token *out) {
  atomic_store_explicit(&context->labels, set, memory_order_relaxed);
  *out = (uint64_t)parent << LABEL_TOKEN_SHIFT | set;
}

/* Push strings that are not in the thread's cache. */
static __attribute__((noinline)) spanprof_status
label_push_strings(sp_self *self, const char *name, size_t name_bytes,
                   const char *value, size_t value_bytes,
                   sp_label_cache_string *entry, spanprof_label_token *out) {
  spanprof_context *context =
      atomic_load_explicit(&self->context, memory_order_relaxed);
  spanprof_labels parent =
      atomic_load_explicit(&context->labels, memory_order_relaxed);
  spanprof_labels set;
  bool unchanged;
  spanprof_status st = sp_label_set_push(parent, name, name_bytes, value,
                                         value_bytes, &unchanged, &set);

  if (st)
    return st;
  /* Cleaned and capped values are not cached, so that each such push is
   * counted. */
  if (unchanged)
    label_string_cache(&self->cache, entry, set, parent, name, name_bytes,
                       value, value_bytes);
  label_pushed(context, parent, set, out);
  return SPANPROF_OK;
}

/* Push interned texts that are not in the thread's cache. */
static __attribute__((noinline)) spanprof_status
label_push_texts(sp_self *self, spanprof_text_id name, spanprof_text_id value,
                 spanprof_label_token *out) {
  spanprof_context *context =
      atomic_load_explicit(&self->context, memory_order_relaxed);
  spanprof_labels parent =
      atomic_load_explicit(&context->labels, memory_order_relaxed);
  spanprof_text_id clean_name;
  spanprof_labels set;
  spanprof_status st = sp_text_name_form(name, &clean_name);

  if (!st)
    st = sp_label_set_push_text(parent, clean_name, value, &set);
  if (st) {
    sp_count(&sp_counts.labels_refused, 1);
    return st;
  }
  /* A capped value is not cached, so that each such push is counted. */
  if (sp_label_node_get(set)->value == value)
    label_text_cache(&self->cache, set, parent, name, value);
  label_pushed(context, parent, set, out);
  return SPANPROF_OK;
}

/* Undo a push that is not the innermost push, together with all pushes inside
 * of it. */
SP_SIGNAL_SAFE static __attribute__((noinline)) void
label_pop_outer(spanprof_context *context, spanprof_labels pushed) {
  spanprof_labels set =
      context ? atomic_load_explicit(&context->labels, memory_order_relaxed)
              : 0;

  while (set && set != pushed)
    set = sp_label_node_get(set)->parent;
  if (set)
    atomic_store_explicit(&context->labels, sp_label_node_get(set)->parent,
                          memory_order_relaxed);
  else
    sp_count(&sp_counts.labels_unbalanced, 1);
}

spanprof_status spanprof_label_push_bytes(const char *name, size_t name_bytes,
                                          const char *value, size_t value_bytes,
                                          spanprof_label_token *out) {
  sp_self *self = sp_tls_get();
  sp_label_cache_ends name_ends, value_ends;
  sp_label_cache_string *entry;
  spanprof_context *context;
  spanprof_labels parent, set;
  uint64_t hash;

  *out = 0;
  if (SP_UNLIKELY(!self)) {
    self = sp_self_attach();
    if (!self)
      return sp_fail(SPANPROF_ERR_NOMEM, "no memory for this thread's labels");
  }
  name_ends = label_ends(name, name_bytes);
  value_ends = label_ends(value, value_bytes);
  context = atomic_load_explicit(&self->context, memory_order_relaxed);
  parent = atomic_load_explicit(&context->labels, memory_order_relaxed);
  hash = sp_hash_mix(value_ends.last + name_ends.first * 31,
                     value_ends.first + name_ends.last * 31 + parent);
  entry = &self->cache.strings[hash % SP_LABEL_CACHE_STRINGS];
  /* No signal handler pushes strings, so nothing else writes to this entry
   * between the check and this read. */
  set = entry->set;
  if (SP_LIKELY(set && entry->parent == parent &&
                entry->name_bytes == name_bytes &&
                entry->value_bytes == value_bytes &&
                ((entry->name.first ^ name_ends.first) |
                 (entry->name.last ^ name_ends.last) |
                 (entry->value.first ^ value_ends.first) |
                 (entry->value.last ^ value_ends.last)) == 0) &&
      ((name_bytes <= LABEL_ENDS_BYTES && value_bytes <= LABEL_ENDS_BYTES) ||
       label_strings_are(set, name, name_bytes, value, value_bytes))) {
    label_pushed(context, parent, set, out);
    return SPANPROF_OK;
  }
  return label_push_strings(self, name, name_bytes, value, value_bytes, entry,
                            out);
}

spanprof_status spanprof_label_push(const char *name, const char *value,
                                    spanprof_label_token *out) {
  *out = 0;
  if (!name || !value)
    return sp_fail(SPANPROF_ERR_ARGUMENT, "a label's name or value is NULL");
  return spanprof_label_push_bytes(name, strlen(name), value, strlen(value),
                                   out);
}

SP_SIGNAL_SAFE spanprof_status spanprof_label_push_ids(
    spanprof_text_id name, spanprof_text_id value, spanprof_label_token *out) {
  sp_self *self = sp_tls_get();
  const sp_label_cache_text *entry;
  spanprof_context *context;
  spanprof_labels parent, set;
  uint32_t version;

  *out = 0;
  if (SP_UNLIKELY(!self)) {
    self = sp_self_attach();
    if (!self)
      return SPANPROF_ERR_NOMEM;
  }
  context = atomic_load_explicit(&self->context, memory_order_relaxed);
  parent = atomic_load_explicit(&context->labels, memory_order_relaxed);
  entry = label_text_entry(&self->cache, parent, name, value);
  version = label_cache_version(&self->cache);
  set = entry->set;
  if (SP_LIKELY(set && entry->parent == parent && entry->name == name &&
                entry->value == value &&
                label_cache_version(&self->cache) == version)) {
    label_pushed(context, parent, set, out);
    return SPANPROF_OK;
  }
  return label_push_texts(self, name, value, out);
}

SP_SIGNAL_SAFE void spanprof_label_pop(spanprof_label_token token) {
  spanprof_labels pushed = (spanprof_labels)token;
  spanprof_labels before = (spanprof_labels)(token >> LABEL_TOKEN_SHIFT);
  sp_self *self = sp_tls_get();
  spanprof_context *context;

  if (SP_UNLIKELY(pushed == 0))
    return; /* the push failed */
  context =
      self ? atomic_load_explicit(&self->context, memory_order_relaxed) : NULL;
  if (SP_LIKELY(context &&
                atomic_load_explicit(&context->labels, memory_order_relaxed) ==
                    pushed)) {
    if (before == 0)
      atomic_store_explicit(&self->own.last_labels, pushed,
                            memory_order_relaxed);
    atomic_store_explicit(&context->labels, before, memory_order_relaxed);
  } else {
    label_pop_outer(context, pushed);
  }
}

SP_SIGNAL_SAFE spanprof_labels spanprof_labels_get(void) {
  const sp_self *self = sp_tls_get();

  return self ? atomic_load_explicit(
                    &atomic_load_explicit(&self->context, memory_order_relaxed)
                         ->labels,
                    memory_order_relaxed)
              : 0;
}

SP_SIGNAL_SAFE void spanprof_labels_set(spanprof_labels labels) {
  sp_self *self = sp_tls_get();
  spanprof_context *context;
  spanprof_labels before;

  if (!self)
    self = labels ? sp_self_attach() : NULL;
  if (!self)
    return;
  if (labels && sp_label_node_get(labels)->depth == 0) {
    /* No label set has this number. */
    sp_count(&sp_counts.labels_unbalanced, 1);
    return;
  }
  context = atomic_load_explicit(&self->context, memory_order_relaxed);
  before = atomic_load_explicit(&context->labels, memory_order_relaxed);
  if (labels == 0 && before != 0)
    atomic_store_explicit(&self->own.last_labels, before, memory_order_relaxed);
  atomic_store_explicit(&context->labels, labels, memory_order_relaxed);
}
