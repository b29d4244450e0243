#include "span_table.h"

#include <pthread.h>
#include <sched.h>

#include "util/memory/hash.h"

/* Protocol: a hash table in shards, each with a lock. A span is removed from
 * the table before it is freed, and only while it has no references. The
 * removal sets its reference count to SP_SPAN_REFS_DEAD. sp_span_table_family()
 * adds references under the lock of the shard that contains the parent. While
 * it holds the lock, neither the parent nor the spans that the parent refers to
 * can be freed. sp_span_table_retain() increments only a count that is not
 * dead, then checks that the number still belongs to the span. */

/* A fork takes all locks at the same time. ThreadSanitizer allows a thread to
 * hold 64. */
#define TABLE_SHARDS        16u
#define TABLE_BUCKETS_FIRST 16u

typedef struct table_shard {
  pthread_mutex_t lock;
  /* Guarded by `lock`. */
  uint32_t *buckets; /* each is the place + 1 of the first span; 0: empty */
  uint32_t bucket_count;
  uint32_t count;
} __attribute__((aligned(64))) table_shard;

/* Process-wide, because spans are process-wide. */
static table_shard table_shards[TABLE_SHARDS] = {
    [0 ... TABLE_SHARDS - 1] = {.lock = PTHREAD_MUTEX_INITIALIZER}};
static const sp_mem *table_mem = &sp_mem_default;

static uint64_t table_hash(uint64_t span_id) {
  return sp_hash_mix(span_id, 0);
}

static table_shard *table_shard_of(uint64_t hash) {
  return &table_shards[hash >> 60];
}

/* Double the number of buckets. If there is no memory, the chains become longer
 * instead. The caller holds the lock of `shard`. */
static void table_grow(table_shard *shard) {
  uint32_t count =
      shard->bucket_count ? shard->bucket_count * 2 : TABLE_BUCKETS_FIRST;
  uint32_t *buckets = sp_mem_zero(table_mem, count * sizeof *buckets);
  uint32_t i;

  if (!buckets)
    return;
  for (i = 0; i < shard->bucket_count; i++) {
    uint32_t at = shard->buckets[i];

    while (at) {
      sp_span *span = sp_span_at(at - 1);
      uint32_t next = span->table_next;
      uint32_t *bucket = &buckets[table_hash(atomic_load_explicit(
                                      &span->span_id, memory_order_relaxed)) &
                                  (count - 1)];

      span->table_next = *bucket;
      *bucket = at;
      at = next;
    }
  }
  sp_mem_free(table_mem, shard->buckets);
  shard->buckets = buckets;
  shard->bucket_count = count;
}

void sp_span_table_ref(spanprof_span number) {
  sp_span *span = number ? sp_span_get(number) : NULL;

  if (span)
    atomic_fetch_add_explicit(&span->refs, 1, memory_order_relaxed);
}

bool sp_span_table_family(const sp_span_ids *parent, sp_span_family *out) {
  uint64_t hash = table_hash(parent->span_id);
  bool any = (parent->trace_id[0] | parent->trace_id[1]) == 0;
  table_shard *shard = table_shard_of(hash);
  const sp_span *found = NULL;
  uint32_t at = 0;

  memset(out, 0, sizeof *out);
  pthread_mutex_lock(&shard->lock);
  if (shard->bucket_count)
    at = shard->buckets[hash & (shard->bucket_count - 1)];
  for (; at && !found; at = sp_span_at(at - 1)->table_next) {
    const sp_span *span = sp_span_at(at - 1);
    uint64_t high =
        atomic_load_explicit(&span->trace_id[0], memory_order_relaxed);
    uint64_t low =
        atomic_load_explicit(&span->trace_id[1], memory_order_relaxed);

    if (atomic_load_explicit(&span->span_id, memory_order_relaxed) !=
            parent->span_id ||
        (!any && (high != parent->trace_id[0] || low != parent->trace_id[1])))
      continue;
    found = span;
    out->trace_id[0] = high;
    out->trace_id[1] = low;
    out->root = atomic_load_explicit(&span->root, memory_order_relaxed);
    out->carried = atomic_load_explicit(&span->carried, memory_order_relaxed);
    sp_span_table_ref(out->root);
    sp_span_table_ref(out->carried);
  }
  pthread_mutex_unlock(&shard->lock);
  return found != NULL;
}

void sp_span_table_unref(spanprof_span number) {
  sp_span *span = number ? sp_span_get(number) : NULL;

  if (span)
    atomic_fetch_sub_explicit(&span->refs, 1, memory_order_release);
}

bool sp_span_table_retain(spanprof_span number) {
  sp_span *span = number ? sp_span_get(number) : NULL;
  uint32_t refs;

  if (!span)
    return false;
  refs = atomic_load_explicit(&span->refs, memory_order_relaxed);
  do {
    if (refs & SP_SPAN_REFS_DEAD)
      return false;
  } while (!atomic_compare_exchange_weak_explicit(&span->refs, &refs, refs + 1,
                                                  memory_order_acquire,
                                                  memory_order_relaxed));
  if (sp_span_same(span, number))
    return true;
  atomic_fetch_sub_explicit(&span->refs, 1, memory_order_release);
  return false;
}

void sp_span_table_drop(sp_span *span) {
  uint32_t none = 0;

  /* Another thread may have added a reference, which it drops as soon as it
   * finds that the number is not valid. */
  while (!atomic_compare_exchange_weak_explicit(
      &span->refs, &none, SP_SPAN_REFS_DEAD, memory_order_acquire,
      memory_order_relaxed)) {
    none = 0;
    sched_yield();
  }
}

spanprof_status sp_span_table_add(sp_span *span, spanprof_span number) {
  uint64_t hash =
      table_hash(atomic_load_explicit(&span->span_id, memory_order_relaxed));
  table_shard *shard = table_shard_of(hash);
  spanprof_status st = SPANPROF_ERR_NOMEM;

  pthread_mutex_lock(&shard->lock);
  if (shard->count >= shard->bucket_count)
    table_grow(shard);
  if (shard->bucket_count) {
    uint32_t *bucket = &shard->buckets[hash & (shard->bucket_count - 1)];

    span->table_next = *bucket;
    *bucket = (uint32_t)number + 1;
    shard->count++;
    st = SPANPROF_OK;
  }
  pthread_mutex_unlock(&shard->lock);
  return st;
}

bool sp_span_table_remove(sp_span *span, spanprof_span number) {
  uint64_t hash =
      table_hash(atomic_load_explicit(&span->span_id, memory_order_relaxed));
  table_shard *shard = table_shard_of(hash);
  bool removed = false;
  uint32_t none = 0;

  pthread_mutex_lock(&shard->lock);
  if (atomic_compare_exchange_strong_explicit(
          &span->refs, &none, SP_SPAN_REFS_DEAD, memory_order_acquire,
          memory_order_relaxed)) {
    uint32_t *link = &shard->buckets[hash & (shard->bucket_count - 1)];

    while (*link != (uint32_t)number + 1)
      link = &sp_span_at(*link - 1)->table_next;
    *link = span->table_next;
    shard->count--;
    removed = true;
  }
  pthread_mutex_unlock(&shard->lock);
  return removed;
}

void sp_span_table_lock(void) {
  size_t i;

  for (i = 0; i < TABLE_SHARDS; i++)
    pthread_mutex_lock(&table_shards[i].lock);
}

void sp_span_table_unlock(void) {
  size_t i;

  for (i = 0; i < TABLE_SHARDS; i++)
    pthread_mutex_unlock(&table_shards[i].lock);
}

void sp_span_table_reset(const sp_mem *mem) {
  size_t i;

  for (i = 0; i < TABLE_SHARDS; i++) {
    sp_mem_free(table_mem, table_shards[i].buckets);
    table_shards[i].buckets = NULL;
    table_shards[i].bucket_count = 0;
    table_shards[i].count = 0;
  }
  table_mem = mem ? mem : &sp_mem_default;
}
