/* Ordinary threads do the work of the signal handler: they use the ring, the
 * contexts and the stack walker of a runtime. Signals are not used, because
 * ThreadSanitizer delivers them late. This work races with the reader of the
 * ring, and with a runtime that registers and unregisters. Every sample is read
 * exactly once and complete, or is counted as dropped. */
#include "stress.h"

#include "sampler/capture.h"
#include "sampler/handler/runtime.h"
#include "util/system/counters.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <ucontext.h>

#define RACE_THREADS     4
#define RACE_SHARDS      4
#define RACE_SHARD_BYTES (64u << 10)

static uint64_t work_until_ns;
static sp_ring *ring;
static _Atomic uint64_t delivered, refused;
static _Atomic unsigned threads_left;

/* ------------------------------------------------------- payloads of bytes */

typedef struct race_payload {
  uint64_t thread;
  uint64_t serial;
  uint64_t bytes;
  uint64_t fill[];
} race_payload;

static void payload_write(uint32_t thread, uint64_t serial, size_t words) {
  size_t bytes = sizeof(race_payload) + words * 8, i;
  race_payload *payload;
  sp_ring_claim claim;

  if (sp_ring_reserve(ring, thread, bytes, &claim) != SP_RING_OK) {
    atomic_fetch_add(&refused, 1);
    sched_yield();
    return;
  }
  payload = claim.payload;
  payload->thread = thread;
  payload->serial = serial;
  payload->bytes = bytes;
  for (i = 0; i < words; i++)
    payload->fill[i] = serial * 31 + i;
  sp_ring_commit(&claim, bytes);
  atomic_fetch_add(&delivered, 1);
}

static void *writer_run(void *data) {
  uint32_t thread = (uint32_t)(uintptr_t)data;
  uint64_t random = thread, serial;

  for (serial = 1; stress_now_ns() < work_until_ns; serial++)
    payload_write(thread, serial, stress_random(&random) % 600);
  atomic_fetch_sub(&threads_left, 1);
  return NULL;
}

static void payload_check(const race_payload *payload, size_t bytes) {
  size_t words = (payload->bytes - sizeof *payload) / 8, i;

  STRESS_REQUIRE(payload->thread < RACE_THREADS && payload->bytes == bytes,
                 "a broken payload");
  for (i = 0; i < words; i++)
    STRESS_REQUIRE(payload->fill[i] == payload->serial * 31 + i,
                   "a torn payload");
}

static uint64_t payloads_read(void) {
  const void *payload;
  unsigned shard = 0;
  uint64_t count = 0;
  size_t bytes;

  while ((payload = sp_ring_next(ring, &shard, &bytes))) {
    payload_check(payload, bytes);
    sp_ring_release(ring, shard);
    count++;
  }
  return count;
}

/* ------------------------------------------------------ samples of handlers */

static size_t race_walk(void *data, const spanprof_capture *capture,
                        spanprof_frame *frames, size_t max, int *cut) {
  (void)capture;
  (void)max;
  frames[0] = (spanprof_frame){.code = (uint64_t)(uintptr_t)data, .offset = 1};
  frames[1] =
      (spanprof_frame){.code = 2, .offset = 2, .flags = SPANPROF_FRAME_ENTRY};
  *cut = 0;
  return 2;
}

static spanprof_status race_resolve(void *data, const spanprof_frame *frame,
                                    spanprof_name *out) {
  (void)data;
  (void)frame;
  out->function = "race";
  out->function_bytes = 4;
  return SPANPROF_OK;
}

static void *handler_run(void *data) {
  spanprof_span_info info = {.struct_size = sizeof info,
                             .flags = SPANPROF_SPAN_SAMPLED,
                             .name = "race",
                             .name_bytes = 4};
  sp_thread *thread;
  ucontext_t here;

  (void)data;
  STRESS_OK(spanprof_thread_register());
  thread = sp_self_current()->thread;
  STRESS_REQUIRE(thread, "not enrolled");
  while (stress_now_ns() < work_until_ns) {
    spanprof_label_token label;
    spanprof_span_token token;
    spanprof_span span;

    STRESS_OK(spanprof_label_push_bytes("a", 1, "b", 1, &label));
    STRESS_OK(spanprof_span_start(NULL, &info, &span));
    STRESS_OK(spanprof_span_enter(span, &token));
    getcontext(&here);
    sp_capture_signal(SIGRTMIN, thread->index, 1, &here);
    spanprof_span_leave(token);
    spanprof_span_end(span);
    spanprof_label_pop(label);
    sp_capture_signal(SIGRTMIN, thread->index, 2, &here);
    /* Yield, because otherwise a reader that shares a CPU core with this thread
     * would never run. */
    sched_yield();
  }
  spanprof_thread_unregister();
  atomic_fetch_sub(&threads_left, 1);
  return NULL;
}

static uint64_t samples_read(uint64_t *ticks) {
  const sp_sample *sample;
  unsigned shard = 0;
  uint64_t count = 0;
  size_t bytes;

  while ((sample = sp_ring_next(ring, &shard, &bytes))) {
    const spanprof_frame *frames = (const spanprof_frame *)(sample + 1);

    STRESS_REQUIRE(sample->frame_count == 0 || sample->frame_count == 2,
                   "a sample has frames that no walk returned");
    STRESS_REQUIRE(sample->frame_count == 0 || frames[1].code == 2,
                   "a sample has incomplete frames");
    STRESS_REQUIRE(
        (sample->span != 0) == (sample->labels != 0) ||
            (sample->flags & SP_SAMPLE_THREAD_END),
        "a sample has a span without its label, or a label without its span");
    *ticks += sample->ticks;
    sp_ring_release(ring, shard);
    count++;
  }
  return count;
}

static void runtime_cycle(unsigned round) {
  spanprof_runtime runtime = {.struct_size = sizeof runtime,
                              .name = "race",
                              .walk = race_walk,
                              .resolve = race_resolve,
                              .data = &ring};

  if (round % 2)
    spanprof_runtime_unregister();
  else
    STRESS_OK(spanprof_runtime_register(&runtime));
}

static void threads_begin(pthread_t *threads, void *(*run)(void *),
                          uint64_t for_ns) {
  uintptr_t i;

  work_until_ns = stress_now_ns() + for_ns;
  threads_left = RACE_THREADS;
  for (i = 0; i < RACE_THREADS; i++)
    STRESS_REQUIRE(pthread_create(&threads[i], NULL, run, (void *)i) == 0,
                   "no thread");
}

static void payloads_try(uint64_t for_ns) {
  uint64_t count = 0;
  pthread_t threads[RACE_THREADS];
  unsigned i;

  threads_begin(threads, writer_run, for_ns);
  while (threads_left > 0)
    count += payloads_read();
  for (i = 0; i < RACE_THREADS; i++)
    pthread_join(threads[i], NULL);
  count += payloads_read();
  STRESS_REQUIRE(count == delivered, "%llu written, %llu read",
                 (unsigned long long)delivered, (unsigned long long)count);
  printf("%llu payloads written and read, %llu refused\n",
         (unsigned long long)count, (unsigned long long)refused);
}

static void handlers_try(uint64_t for_ns) {
  sp_capture_config config = {.slice_bytes_max = 4096,
                              .interval_ns = STRESS_NS_PER_S};
  /* The timers never expire, because the threads call the handler themselves.
   */
  sp_timer_base base = {.wall = true, .interval_ns = 1000000 * STRESS_NS_PER_S};
  uint64_t count = 0, ticks = 0;
  pthread_t threads[RACE_THREADS];
  sp_capture *capture;
  spanprof_stats s = {.struct_size = sizeof s};
  unsigned i, rounds = 0;

  STRESS_OK(sp_capture_acquire(&capture));
  ring = sp_capture_ring(capture);
  sp_capture_begin(capture, &config);
  /* Ignore the signal of the timers, because it would end this process. */
  signal(SIGRTMIN, SIG_IGN);
  STRESS_OK(sp_threads_start(&base, SIGRTMIN, false));
  threads_begin(threads, handler_run, for_ns);
  while (threads_left > 0) {
    count += samples_read(&ticks);
    runtime_cycle(rounds++);
    sched_yield();
  }
  for (i = 0; i < RACE_THREADS; i++)
    pthread_join(threads[i], NULL);
  count += samples_read(&ticks);
  sp_threads_stop();
  sp_capture_end();
  STRESS_OK(spanprof_stats_get(&s));
  printf("%llu samples taken, %llu read, %llu dropped full, runtime "
         "turned %u times\n",
         (unsigned long long)s.samples_taken, (unsigned long long)count,
         (unsigned long long)s.samples_dropped_full, rounds);
  STRESS_REQUIRE(count > 0 && rounds > 1, "nothing happened");
  STRESS_REQUIRE(s.samples_taken ==
                     count + s.samples_dropped_full + s.samples_dropped_stop,
                 "samples are missing");
  STRESS_REQUIRE(s.ticks_taken == ticks + s.ticks_dropped, "ticks are missing");
}

int main(void) {
  uint64_t half_ns;

  stress_begin();
  half_ns = stress_seconds() * STRESS_NS_PER_S / 2;
  ring = sp_ring_new(RACE_SHARDS, RACE_SHARD_BYTES);
  STRESS_REQUIRE(ring, "no memory");
  payloads_try(half_ns);
  sp_ring_free(ring);
  handlers_try(half_ns);
  return 0;
}
