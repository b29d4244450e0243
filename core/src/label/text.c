#include "text.h"

#include <pthread.h>
#include <string.h>

#include "label_fork.h"
#include "util/memory/hash.h"
#include "util/memory/mem.h"
#include "util/system/counters.h"
#include "util/system/status.h"
#include "util/text/clean.h"

/* Protocol: an entry is written with the lock held, and then made visible by a
 * slot of the index that has its number (release). Readers take no lock. An
 * index that has become too small is replaced but not freed, because another
 * thread may be reading it. All old indexes together are smaller than the
 * present one. */

#define TEXT_CHUNK       512u
#define TEXT_CHUNKS      (SP_TEXT_COUNT_MAX / TEXT_CHUNK)
#define TEXT_INDEX_FIRST 256u
#define TEXT_BLOCK_BYTES 16384u

typedef struct text_entry {
  /* Fixed once the entry is visible. */
  const char *bytes;
  uint32_t size;
  uint32_t hash;
  /* Written by any thread. */
  _Atomic spanprof_text_id
      name_form;           /* sp_text_name_form() of this text; 0: not computed
                            */
  _Atomic uint32_t values; /* number of distinct values of this name */
} text_entry;

typedef struct text_index {
  struct text_index *older;
  uint32_t mask;
  _Atomic uint64_t slots[]; /* hash << 32 | number; 0: free */
} text_index;

typedef struct text_block {
  struct text_block *older;
  char bytes[];
} text_block;

/* Process-wide, because labels are pushed with and without a session, and all
 * users of the library in a process share the numbers of texts. */
static struct {
  /* Read by any thread. */
  _Atomic(text_entry *) chunks[TEXT_CHUNKS];
  _Atomic(text_index *) index;
  _Atomic spanprof_text_id empty_name; /* sp_text_name_form() of "" */
  /* Guarded by `lock`. */
  pthread_mutex_t lock;
  const sp_mem *mem;
  uint32_t count; /* number of texts, except "", which has number 0 */
  text_block *blocks;
  size_t block_used;
  uint64_t bytes;
} texts = {.lock = PTHREAD_MUTEX_INITIALIZER, .mem = &sp_mem_paged};

SP_SIGNAL_SAFE static text_entry *text_entry_of(spanprof_text_id text) {
  text_entry *chunk;

  if (text >= SP_TEXT_COUNT_MAX)
    return NULL;
  chunk = atomic_load_explicit(&texts.chunks[text / TEXT_CHUNK],
                               memory_order_acquire);
  return chunk ? &chunk[text % TEXT_CHUNK] : NULL;
}

SP_SIGNAL_SAFE static uint32_t text_hash(const char *text, size_t bytes) {
  return (uint32_t)(sp_hash_bytes(text, bytes) >> 32);
}

SP_SIGNAL_SAFE static spanprof_text_id
text_lookup(const char *text, size_t bytes, uint32_t hash) {
  text_index *index = atomic_load_explicit(&texts.index, memory_order_acquire);
  uint32_t at;

  if (!index)
    return 0;
  for (at = hash & index->mask;; at = (at + 1) & index->mask) {
    uint64_t slot =
        atomic_load_explicit(&index->slots[at], memory_order_acquire);
    const text_entry *entry;

    if (slot == 0)
      return 0;
    if ((uint32_t)(slot >> 32) != hash)
      continue;
    entry = text_entry_of((spanprof_text_id)slot);
    if (entry->size == bytes && memcmp(entry->bytes, text, bytes) == 0)
      return (spanprof_text_id)slot;
  }
}

static void text_index_put(text_index *index, uint32_t hash,
                           spanprof_text_id text) {
  uint32_t at = hash & index->mask;

  while (atomic_load_explicit(&index->slots[at], memory_order_relaxed) != 0)
    at = (at + 1) & index->mask;
  atomic_store_explicit(&index->slots[at], (uint64_t)hash << 32 | text,
                        memory_order_release);
}

/* Make sure that the index has a free slot for one more text; at most half of
 * its slots are used. The caller holds the lock. */
static spanprof_status text_index_reserve(void) {
  text_index *index = atomic_load_explicit(&texts.index, memory_order_relaxed);
  text_index *grown;
  uint32_t slots = index ? index->mask + 1 : 0;
  spanprof_text_id text;

  if ((texts.count + 1) * 2 <= slots)
    return SPANPROF_OK;
  slots = slots ? slots * 2 : TEXT_INDEX_FIRST;
  grown =
      sp_mem_zero(texts.mem, sizeof *grown + slots * sizeof grown->slots[0]);
  if (!grown)
    return SPANPROF_ERR_NOMEM;
  grown->older = index;
  grown->mask = slots - 1;
  for (text = 1; text <= texts.count; text++)
    text_index_put(grown, text_entry_of(text)->hash, text);
  atomic_store_explicit(&texts.index, grown, memory_order_release);
  return SPANPROF_OK;
}

/* Copy the text to memory that is never freed. Returns NULL if out of memory.
 * The caller holds the lock. */
static const char *text_store(const char *text, size_t bytes) {
  char *copy;

  if (!texts.blocks || texts.block_used + bytes + 1 > TEXT_BLOCK_BYTES) {
    text_block *block = sp_mem_new(texts.mem, sizeof *block + TEXT_BLOCK_BYTES);

    if (!block)
      return NULL;
    block->older = texts.blocks;
    texts.blocks = block;
    texts.block_used = 0;
  }
  copy = texts.blocks->bytes + texts.block_used;
  memcpy(copy, text, bytes);
  copy[bytes] = '\0';
  texts.block_used += bytes + 1;
  texts.bytes += bytes;
  return copy;
}

/* Add a text that is not interned yet. The caller holds the lock. */
static spanprof_status text_insert(const char *text, size_t bytes,
                                   uint32_t hash, spanprof_text_id *out) {
  spanprof_text_id number = texts.count + 1;
  text_entry *entry;
  spanprof_status st;

  if (number >= SP_TEXT_COUNT_MAX || texts.bytes + bytes > SP_TEXT_BYTES_MAX)
    return SPANPROF_ERR_LIMIT;
  st = text_index_reserve();
  if (st)
    return st;
  if (!text_entry_of(number)) {
    text_entry *chunk = sp_mem_zero(texts.mem, TEXT_CHUNK * sizeof *chunk);

    if (!chunk)
      return SPANPROF_ERR_NOMEM;
    atomic_store_explicit(&texts.chunks[number / TEXT_CHUNK], chunk,
                          memory_order_release);
  }
  entry = text_entry_of(number);
  entry->bytes = text_store(text, bytes);
  if (!entry->bytes)
    return SPANPROF_ERR_NOMEM;
  entry->size = (uint32_t)bytes;
  entry->hash = hash;
  texts.count = number;
  text_index_put(atomic_load_explicit(&texts.index, memory_order_relaxed), hash,
                 number);
  *out = number;
  return SPANPROF_OK;
}

SP_SIGNAL_SAFE const char *sp_text_get(spanprof_text_id text, size_t *bytes) {
  const text_entry *entry = text ? text_entry_of(text) : NULL;

  if (!entry || !entry->bytes) {
    *bytes = 0;
    return "";
  }
  *bytes = entry->size;
  return entry->bytes;
}

SP_SIGNAL_SAFE bool sp_text_find(const char *text, size_t bytes,
                                 spanprof_text_id *out) {
  *out = bytes ? text_lookup(text, bytes, text_hash(text, bytes)) : 0;
  return *out != 0 || bytes == 0;
}

spanprof_status sp_text_add(const char *text, size_t bytes,
                            spanprof_text_id *out) {
  uint32_t hash = text_hash(text, bytes);
  spanprof_status st = SPANPROF_OK;

  if (sp_text_find(text, bytes, out))
    return SPANPROF_OK;
  sp_label_fork_ready();
  pthread_mutex_lock(&texts.lock);
  *out = text_lookup(text, bytes, hash);
  if (!*out)
    st = text_insert(text, bytes, hash, out);
  pthread_mutex_unlock(&texts.lock);
  return st;
}

/* Clean and intern a label name, and count it in labels_cleaned. */
static __attribute__((noinline)) spanprof_status
text_add_name(const char *text, size_t bytes, spanprof_text_id *out) {
  char name[SP_CLEAN_NAME_MAX];
  bool changed;
  spanprof_status st;

  bytes = sp_clean_name(text, bytes, name, &changed);
  st = sp_text_add(name, bytes, out);
  if (!st)
    sp_count(&sp_counts.labels_cleaned, 1);
  return st;
}

/* Clean and intern a label value, and count it in labels_cleaned. */
static __attribute__((noinline)) spanprof_status
text_add_value(const char *text, size_t bytes, spanprof_text_id *out) {
  char value[SP_CLEAN_TEXT_MAX];
  bool changed;
  spanprof_status st;

  bytes = sp_clean_text(text, bytes, value, &changed);
  st = sp_text_add(value, bytes, out);
  if (!st)
    sp_count(&sp_counts.labels_cleaned, 1);
  return st;
}

spanprof_status sp_text_name_form(spanprof_text_id text,
                                  spanprof_text_id *out) {
  text_entry *entry = text ? text_entry_of(text) : NULL;
  _Atomic spanprof_text_id *form =
      entry ? &entry->name_form : &texts.empty_name;
  const char *bytes;
  size_t size;
  spanprof_status st = SPANPROF_OK;

  *out = atomic_load_explicit(form, memory_order_acquire);
  if (SP_LIKELY(*out))
    return SPANPROF_OK;
  bytes = sp_text_get(text, &size);
  if (sp_clean_name_is(bytes, size))
    *out = text;
  else
    st = text_add_name(bytes, size, out);
  if (!st)
    atomic_store_explicit(form, *out, memory_order_release);
  return st;
}

SP_SIGNAL_SAFE bool sp_text_value_acquire(spanprof_text_id text, uint32_t max) {
  text_entry *entry = text_entry_of(text);
  uint32_t values = atomic_load_explicit(&entry->values, memory_order_relaxed);

  do {
    if (values >= max)
      return false;
  } while (!atomic_compare_exchange_weak_explicit(
      &entry->values, &values, values + 1, memory_order_relaxed,
      memory_order_relaxed));
  return true;
}

SP_SIGNAL_SAFE void sp_text_value_release(spanprof_text_id text) {
  atomic_fetch_sub_explicit(&text_entry_of(text)->values, 1,
                            memory_order_relaxed);
}

SP_SIGNAL_SAFE bool sp_text_values_full(spanprof_text_id text, uint32_t max) {
  const text_entry *entry = text_entry_of(text);

  return entry &&
         atomic_load_explicit(&entry->values, memory_order_relaxed) >= max;
}

void sp_text_lock(void) {
  pthread_mutex_lock(&texts.lock);
}

void sp_text_unlock(void) {
  pthread_mutex_unlock(&texts.lock);
}

void sp_text_reset(const sp_mem *mem) {
  text_index *index = atomic_load(&texts.index);
  size_t i;

  while (index) {
    text_index *older = index->older;

    sp_mem_free(texts.mem, index);
    index = older;
  }
  while (texts.blocks) {
    text_block *older = texts.blocks->older;

    sp_mem_free(texts.mem, texts.blocks);
    texts.blocks = older;
  }
  for (i = 0; i < TEXT_CHUNKS && atomic_load(&texts.chunks[i]); i++) {
    sp_mem_free(texts.mem, atomic_load(&texts.chunks[i]));
    atomic_store(&texts.chunks[i], NULL);
  }
  atomic_store(&texts.index, NULL);
  atomic_store(&texts.empty_name, 0);
  texts.count = 0;
  texts.block_used = 0;
  texts.bytes = 0;
  texts.mem = mem ? mem : &sp_mem_paged;
}

spanprof_status spanprof_text_intern(const char *text, size_t bytes,
                                     spanprof_text_id *out) {
  spanprof_status st;

  *out = 0;
  if (!text)
    return sp_fail(SPANPROF_ERR_ARGUMENT, "text is NULL");
  st = sp_clean_text_is(text, bytes) ? sp_text_add(text, bytes, out)
                                     : text_add_value(text, bytes, out);
  if (st)
    return sp_fail(
        st, st == SPANPROF_ERR_LIMIT
                ? "this process has too many different label names and values"
                : "no memory for a label text");
  return SPANPROF_OK;
}
