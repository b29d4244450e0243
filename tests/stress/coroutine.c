/* Coroutines run on any free thread and yield in the middle of their work. Each
 * coroutine has its own context of the library. No sample has the span of the
 * coroutine that ran on the thread before. */
#include "span_work.h"

#include <ucontext.h>

#define COROUTINES        64
#define COROUTINE_WORKERS 4
#define COROUTINE_STACK   (128 * 1024)

typedef struct coroutine {
  ucontext_t here;
  ucontext_t worker; /* the thread that runs the coroutine now */
  spanprof_context *context;
  unsigned kind;
  uint64_t random;
  uint64_t slices;
  char *stack;
} coroutine;

static coroutine coroutines[COROUTINES];
static uint64_t work_until_ns;
static _Atomic uint64_t slices_done;

/* The coroutines that are ready to run, in any order. Guarded by ready_lock. */
static pthread_mutex_t ready_lock = PTHREAD_MUTEX_INITIALIZER;
static coroutine *ready[COROUTINES];
static unsigned ready_count;

static void ready_put(coroutine *self) {
  pthread_mutex_lock(&ready_lock);
  ready[ready_count++] = self;
  pthread_mutex_unlock(&ready_lock);
}

static coroutine *ready_pop(uint64_t *random) {
  coroutine *taken = NULL;
  unsigned at;

  pthread_mutex_lock(&ready_lock);
  if (ready_count > 0) {
    at = stress_random(random) % ready_count;
    taken = ready[at];
    ready[at] = ready[--ready_count];
  }
  pthread_mutex_unlock(&ready_lock);
  return taken;
}

/* Called in the middle of the work: yield and continue on another thread. */
static void coroutine_yield(void *data) {
  coroutine *self = data;

  swapcontext(&self->here, &self->worker);
}

static void coroutine_work(coroutine *self) {
  spanprof_span span = span_work_start(NULL, self->kind, NULL);
  spanprof_span_token token;

  STRESS_OK(spanprof_span_enter(span, &token));
  span_work_burn(self->kind, 100 * STRESS_NS_PER_US, coroutine_yield, self);
  spanprof_span_leave(token);
  spanprof_span_end(span);
}

static void coroutine_main(unsigned number) {
  coroutine *self = &coroutines[number];

  for (;;) {
    coroutine_work(self);
    self->slices++;
    self->kind = stress_random(&self->random) % SPAN_WORK_KINDS;
  }
}

static void coroutine_init(coroutine *self, unsigned number) {
  self->kind = number % SPAN_WORK_KINDS;
  self->random = number;
  self->stack = malloc(COROUTINE_STACK);
  STRESS_OK(spanprof_context_new(&self->context));
  getcontext(&self->here);
  self->here.uc_stack.ss_sp = self->stack;
  self->here.uc_stack.ss_size = COROUTINE_STACK;
  self->here.uc_link = NULL;
  makecontext(&self->here, (void (*)(void))coroutine_main, 1, number);
  ready_put(self);
}

static void *worker_run(void *data) {
  uint64_t random = (uintptr_t)data;

  while (stress_now_ns() < work_until_ns) {
    coroutine *next = ready_pop(&random);

    if (!next)
      continue;
    spanprof_context_switch(next->context);
    swapcontext(&next->worker, &next->here);
    spanprof_context_switch(NULL);
    ready_put(next);
    slices_done++;
  }
  return NULL;
}

int main(void) {
  span_work_totals totals = {.outermost = true};
  pthread_t threads[COROUTINE_WORKERS];
  static stress_run run;
  uintptr_t i;

  work_until_ns = stress_begin();
  stress_wall_hz("2000");
  stress_run_init(&run, "coroutine");
  run.sum.on_sample = span_work_sample;
  run.sum.on_sample_data = &totals;
  stress_run_start(&run);
  for (i = 0; i < COROUTINES; i++)
    coroutine_init(&coroutines[i], (unsigned)i);
  for (i = 0; i < COROUTINE_WORKERS; i++)
    pthread_create(&threads[i], NULL, worker_run, (void *)(i + 1));
  for (i = 0; i < COROUTINE_WORKERS; i++)
    pthread_join(threads[i], NULL);
  stress_run_stop(&run, 5000);
  span_work_check(&totals, "coroutines");
  printf("%llu slices; ", (unsigned long long)slices_done);
  stress_run_print(&run);
  for (i = 0; i < COROUTINES; i++) {
    spanprof_context_free(coroutines[i].context);
    free(coroutines[i].stack);
  }
  stress_run_dispose(&run);
  return 0;
}
