#include "thread_record.h"

#include "util/memory/mem.h"

/* Process-wide, because threads are process-wide, and because signal handlers
 * find the record of their thread here. */
SP_HANDLER_DATA sp_thread_table sp_threads = {.lock =
                                                  PTHREAD_MUTEX_INITIALIZER};

SP_HANDLER_CODE static inline uint32_t chunk_of(uint32_t index) {
  return 31u - (uint32_t)__builtin_clz(index / SP_THREAD_CHUNK + 1);
}

/* The index of the chunk's first record. */
SP_HANDLER_CODE static inline uint32_t chunk_first(uint32_t chunk) {
  return SP_THREAD_CHUNK * ((UINT32_C(1) << chunk) - 1);
}

sp_thread *sp_thread_at(uint32_t index) {
  uint32_t chunk = chunk_of(index);
  sp_thread *records;

  if (chunk >= SP_THREAD_CHUNKS_MAX)
    return NULL;
  records =
      atomic_load_explicit(&sp_threads.chunks[chunk], memory_order_acquire);
  return records ? &records[index - chunk_first(chunk)] : NULL;
}

static sp_thread *record_new(void) {
  uint32_t index = sp_threads.free_list;
  uint32_t chunk;
  sp_thread *records;

  if (index != 0) {
    sp_threads.free_list = sp_thread_at(index)->next_free;
    return sp_thread_at(index);
  }
  /* No record has the index 0, because it is SP_SIGNAL_PROBE. */
  if (sp_threads.record_count == 0)
    sp_threads.record_count = 1;
  index = sp_threads.record_count;
  chunk = chunk_of(index);
  if (chunk >= SP_THREAD_CHUNKS_MAX)
    return NULL;
  if (!atomic_load(&sp_threads.chunks[chunk])) {
    records = sp_pages_new((SP_THREAD_CHUNK << chunk) * sizeof *records);
    if (!records)
      return NULL;
    atomic_store_explicit(&sp_threads.chunks[chunk], records,
                          memory_order_release);
  }
  sp_threads.record_count++;
  sp_thread_at(index)->index = index;
  return sp_thread_at(index);
}

/* The hash of a thread id. It fits the 32 bits that the index stores, so equal
 * hashes mean equal ids. */
static uint64_t tid_hash(int tid) {
  return (uint32_t)tid;
}

void sp_thread_release(sp_thread *thread) {
  sp_index_remove(&sp_threads.by_tid, tid_hash(thread->tid), thread->index);
  thread->tid = 0;
  thread->next_free = sp_threads.free_list;
  sp_threads.free_list = thread->index;
}

void sp_thread_clear(sp_thread *thread, int tid) {
  thread->tid = tid;
  thread->timer = SP_TIMER_NONE;
  thread->first_ns = 0;
  thread->pass = sp_threads.pass;
  thread->enrolled_pass = sp_threads.pass;
  thread->excluded = false;
  thread->mask_read = false;
  thread->mask_unconfirmed = false;
  thread->blocked_logged = false;
  thread->stack_final = false;
  thread->checked_cpu_ns = 0;
  thread->checked_samples = 0;
  atomic_store(&thread->self, NULL);
  atomic_store(&thread->stack_low, 0);
  atomic_store(&thread->stack_high, 0);
  atomic_store(&thread->blocked, false);
  atomic_store(&thread->samples, 0);
  atomic_store(&thread->ticks, 0);
  atomic_store(&thread->ticks_ahead, 0);
  atomic_store(&thread->ticks_rejected, 0);
  atomic_store(&thread->seen_sp, 0);
  atomic_store(&thread->seen_tp, 0);
}

sp_thread *sp_thread_find(int tid) {
  uint32_t at, index = sp_index_first(&sp_threads.by_tid, tid_hash(tid), &at);

  return index == SP_INDEX_NONE ? NULL : sp_thread_at(index);
}

sp_thread *sp_thread_record(int tid, bool *fresh) {
  sp_thread *thread = sp_thread_find(tid);

  *fresh = !thread;
  if (thread || sp_index_reserve(&sp_threads.by_tid, &sp_mem_default))
    return thread;
  thread = record_new();
  if (!thread)
    return NULL;
  sp_thread_clear(thread, tid);
  sp_index_add(&sp_threads.by_tid, tid_hash(tid), thread->index);
  return thread;
}

void sp_thread_link(sp_thread *thread, sp_self *self) {
  if (atomic_load(&thread->self))
    return;
  self->thread = thread;
  atomic_store_explicit(&thread->self, self, memory_order_release);
}

static void self_find(sp_self *self) {
  sp_thread *thread = self->thread ? NULL : sp_thread_find(self->tid);

  if (thread)
    sp_thread_link(thread, self);
}

void sp_threads_link(void) {
  if (sp_threads.unlinked)
    sp_self_each(self_find);
  sp_threads.unlinked = false;
}
