#include "rb_thread_table.h"

#include <pthread.h>
#include <ruby/debug.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/rb_base.h"
#include "rb_vm_layout.h"
#include "util/base.h"

/* Number of buckets, a power of two, of the table for adopted threads, which
 * already exist when profiling starts. At most half of the buckets are used. If
 * there are more threads, the others are sampled without Ruby frames, and this
 * is logged. */
#define ADOPTED_BUCKETS 1024u
#define ADOPTED_MAX     (ADOPTED_BUCKETS / 2)

/* The record of a native thread. It belongs to the same native thread for the
 * thread's whole lifetime. */
typedef struct thread_record {
  /* rb_thread_t of the Ruby thread that runs on this native thread, or NULL */
  _Atomic(const void *) thread;
  VALUE object; /* Thread object of that Ruby thread */
  int tid;
  _Atomic bool ended; /* the native thread has ended */
  /* Addresses that the walk of the last sample read first. Only the handler on
   * this thread uses them. */
  const void *near[2];
  rb_sp_code_cache cache;
  struct thread_record *next;
} thread_record;

/* One for the process, because handlers of all threads read it. */
static struct {
  /* Handlers read these fields. */
  _Atomic int
      adopted_tids[ADOPTED_BUCKETS]; /* 0: free, -1: free, but was used */
  thread_record adopted[ADOPTED_BUCKETS];
  _Atomic uint32_t adopted_count;
  /* Guarded by `lock`, because each Ractor has a GVL of its own. */
  pthread_mutex_t lock;
  thread_record *records;
  /* Guarded by the GVL. */
  bool hooked;
  pthread_key_t key; /* its value is the record of the calling thread */
} threads = {.lock = PTHREAD_MUTEX_INITIALIZER};

const void *rb_sp_thread_pointer(VALUE thread) {
  return RTYPEDDATA_DATA(thread);
}

SP_HANDLER_CODE static uint32_t adopted_bucket(int tid) {
  return (uint32_t)tid * 2654435761u >> 22;
}

/* Returns the bucket of `tid`. If `tid` is not in the table, returns a free
 * bucket for it, or ADOPTED_BUCKETS if there is none. */
SP_HANDLER_CODE static uint32_t adopted_find(int tid, bool *exists) {
  uint32_t at = adopted_bucket(tid), i, free_bucket = ADOPTED_BUCKETS;

  *exists = false;
  for (i = 0; i < ADOPTED_BUCKETS; i++, at++) {
    uint32_t bucket = at & (ADOPTED_BUCKETS - 1);
    int found = atomic_load_explicit(&threads.adopted_tids[bucket],
                                     memory_order_acquire);

    if (found == tid) {
      *exists = true;
      return bucket;
    }
    if (found <= 0 && free_bucket == ADOPTED_BUCKETS)
      free_bucket = bucket;
    if (found == 0)
      break;
  }
  return free_bucket;
}

SP_HANDLER_CODE const void *rb_sp_thread_find(void *thread_data,
                                              rb_sp_code_cache **cache) {
  thread_record *record = thread_data;
  uint32_t bucket;
  bool exists;

  if (!record) {
    if (atomic_load_explicit(&threads.adopted_count, memory_order_acquire) == 0)
      return NULL;
    bucket = adopted_find((int)syscall(SYS_gettid), &exists);
    if (!exists)
      return NULL;
    record = &threads.adopted[bucket];
  }
  __builtin_prefetch(record->near[0]);
  __builtin_prefetch(record->near[1]);
  *cache = &record->cache;
  return atomic_load_explicit(&record->thread, memory_order_acquire);
}

SP_HANDLER_CODE void rb_sp_thread_prefetch(void *thread_data, const void *frame,
                                           const void *environment) {
  thread_record *record = thread_data;

  if (!record)
    return;
  record->near[0] = frame;
  record->near[1] = environment;
}

static void adopted_clear(uint32_t bucket) {
  atomic_store(&threads.adopted[bucket].thread, NULL);
  atomic_store(&threads.adopted_tids[bucket], -1);
  atomic_fetch_sub(&threads.adopted_count, 1);
  threads.adopted[bucket].object = Qnil;
}

static void adopted_forget(int tid) {
  bool exists;
  uint32_t bucket = adopted_find(tid, &exists);

  if (exists)
    adopted_clear(bucket);
}

static void record_fill(thread_record *record, VALUE object) {
  record->object = object;
  atomic_store_explicit(&record->thread, rb_sp_thread_pointer(object),
                        memory_order_release);
}

/* Returns the record that an earlier session or recording has passed to the
 * core for a native thread, or NULL if there is none. */
static thread_record *record_find(int tid) {
  thread_record *record;

  pthread_mutex_lock(&threads.lock);
  record = threads.records;
  while (record && (record->tid != tid || atomic_load(&record->ended)))
    record = record->next;
  pthread_mutex_unlock(&threads.lock);
  return record;
}

static bool thread_adopt(VALUE object, int tid) {
  thread_record *record = record_find(tid);
  uint32_t bucket;
  bool exists;

  if (record) {
    record_fill(record, object);
    return true;
  }
  bucket = adopted_find(tid, &exists);
  if (!exists) {
    if (bucket == ADOPTED_BUCKETS ||
        atomic_load(&threads.adopted_count) >= ADOPTED_MAX)
      return false;
    atomic_fetch_add(&threads.adopted_count, 1);
  }
  record_fill(&threads.adopted[bucket], object);
  atomic_store_explicit(&threads.adopted_tids[bucket], tid,
                        memory_order_release);
  return true;
}

/* Mark the record of a native thread that ends. Runs on that thread, without
 * the GVL. Does not free the record, because a last signal on this thread may
 * still read it; the next sweep frees it. */
static void record_abandon(void *data) {
  thread_record *record = data;

  atomic_store(&record->thread, NULL);
  atomic_store(&record->ended, true);
}

static thread_record *record_get(void) {
  thread_record *record = pthread_getspecific(threads.key);

  if (record)
    return record;
  record = calloc(1, sizeof *record);
  if (!record)
    return NULL;
  record->object = Qnil;
  if (pthread_setspecific(threads.key, record) != 0) {
    free(record);
    return NULL;
  }
  pthread_mutex_lock(&threads.lock);
  record->next = threads.records;
  threads.records = record;
  pthread_mutex_unlock(&threads.lock);
  return record;
}

/* Give the calling native thread a record that refers to the Ruby thread
 * `object`. Returns false if memory ran out. */
static bool thread_begin(VALUE object) {
  thread_record *record = record_get();
  int tid = (int)syscall(SYS_gettid);

  adopted_forget(tid);
  if (!record)
    return false;
  record->tid = tid;
  record_fill(record, object);
  /* With any other status, the core has stored the data. The core itself counts
   * threads for which it could not create a timer. */
  return spanprof_thread_set_data(record) != SPANPROF_ERR_NOMEM;
}

static void thread_end(void) {
  thread_record *record = pthread_getspecific(threads.key);

  adopted_forget((int)syscall(SYS_gettid));
  if (!record)
    return;
  atomic_store(&record->thread, NULL);
  record->object = Qnil;
}

/* Disable the alternate signal stack of a thread that ends. The VM frees this
 * stack before the native thread ends, so a signal that arrives in between must
 * not use it. */
static void alternate_stack_drop(void) {
  const stack_t none = {.ss_flags = SS_DISABLE};

  if (rb_sp_vm_frees_signal_stack())
    sigaltstack(&none, NULL);
}

static void thread_event(rb_event_flag_t event, VALUE data, VALUE self, ID id,
                         VALUE klass) {
  (void)data;
  (void)self;
  (void)id;
  (void)klass;
  if (event == RUBY_EVENT_THREAD_BEGIN)
    thread_begin(rb_thread_current());
  if (event == RUBY_EVENT_THREAD_END) {
    thread_end();
    alternate_stack_drop();
  }
}

static void threads_mark(void *data) {
  const thread_record *record;
  uint32_t i;

  (void)data;
  for (record = threads.records; record; record = record->next)
    rb_gc_mark(record->object);
  for (i = 0; i < ADOPTED_BUCKETS; i++)
    if (atomic_load(&threads.adopted_tids[i]) > 0)
      rb_gc_mark(threads.adopted[i].object);
}

static const rb_data_type_t threads_type = {
    .wrap_struct_name = "Spanprof::Native threads",
    .function = {.dmark = threads_mark},
    .flags = RUBY_TYPED_FREE_IMMEDIATELY};

void rb_sp_threads_init(void) {
  rb_gc_register_mark_object(
      TypedData_Wrap_Struct(rb_cObject, &threads_type, &threads));
  pthread_key_create(&threads.key, record_abandon);
}

bool rb_sp_threads_start(void) {
  VALUE list = rb_funcall(rb_cThread, rb_intern("list"), 0);
  bool all = thread_begin(rb_thread_current());
  long i;

  for (i = 0; i < RARRAY_LEN(list); i++) {
    VALUE object = RARRAY_AREF(list, i);
    VALUE tid = rb_funcall(object, rb_intern("native_thread_id"), 0);

    /* `tid` is nil if the thread has not begun. In this case the hook will add
     * it when it begins. */
    if (object != rb_thread_current() && FIXNUM_P(tid))
      all = thread_adopt(object, FIX2INT(tid)) && all;
  }
  if (!threads.hooked)
    rb_add_event_hook(thread_event,
                      RUBY_EVENT_THREAD_BEGIN | RUBY_EVENT_THREAD_END, Qnil);
  threads.hooked = true;
  return all;
}

void rb_sp_threads_stop(void) {
  thread_record *record;
  uint32_t i;

  if (threads.hooked)
    rb_remove_event_hook(thread_event);
  threads.hooked = false;
  pthread_mutex_lock(&threads.lock);
  for (record = threads.records; record; record = record->next) {
    atomic_store(&record->thread, NULL);
    record->object = Qnil;
  }
  pthread_mutex_unlock(&threads.lock);
  for (i = 0; i < ADOPTED_BUCKETS; i++) {
    if (atomic_load(&threads.adopted_tids[i]) > 0)
      adopted_clear(i);
    atomic_store(&threads.adopted_tids[i], 0);
  }
}

void rb_sp_threads_end(void) {
  const stack_t none = {.ss_flags = SS_DISABLE};

  sigaltstack(&none, NULL);
}

static void adopted_sweep(void) {
  uint32_t i;

  for (i = 0; i < ADOPTED_BUCKETS; i++)
    if (atomic_load(&threads.adopted_tids[i]) > 0 &&
        !RTEST(rb_funcall(threads.adopted[i].object, rb_intern("alive?"), 0)))
      adopted_clear(i);
}

void rb_sp_threads_sweep(void) {
  thread_record **link = &threads.records;

  adopted_sweep();
  pthread_mutex_lock(&threads.lock);
  while (*link) {
    thread_record *record = *link;

    if (atomic_load(&record->ended)) {
      *link = record->next;
      free(record);
    } else {
      link = &record->next;
    }
  }
  pthread_mutex_unlock(&threads.lock);
}

void rb_sp_threads_after_fork(void) {
  thread_record *mine = pthread_getspecific(threads.key), *record;
  bool hooked = threads.hooked;
  uint32_t i;

  pthread_mutex_init(&threads.lock, NULL);
  for (i = 0; i < ADOPTED_BUCKETS; i++) {
    if (atomic_load(&threads.adopted_tids[i]) > 0)
      adopted_clear(i);
    atomic_store(&threads.adopted_tids[i], 0);
  }
  for (record = threads.records; record; record = record->next)
    if (record != mine)
      record_abandon(record);
  if (hooked)
    thread_begin(rb_thread_current());
}
