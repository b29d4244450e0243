/* Tests which threads are sampled, and when: pauses of the session, and the
 * option registered_threads_only. */
#include <spanprof/spanprof.h>

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "burn.h"
#include "check.h"
#include "session/session_state.h"

/* In this time, the collector scans for threads more than twice. */
#define SCANS_US 500000

static void log_nothing(void *data, spanprof_log_level level,
                        const char *message) {
  (void)data, (void)level, (void)message;
}

static uint64_t profiles_cpu_ns;

static void profile_sum(void *data, const spanprof_profile *profile) {
  (void)data;
  profiles_cpu_ns += profile->cpu_ns;
}

static spanprof_session *session_begin(bool registered_only) {
  spanprof_options options;
  spanprof_session *session;

  CHECK_EQUAL(spanprof_options_init(&options, sizeof options), SPANPROF_OK);
  options.application_name = "pause";
  options.sample_rate_hz = 1000;
  options.registered_threads_only = registered_only;
  options.on_profile = profile_sum;
  options.log = log_nothing;
  profiles_cpu_ns = 0;
  CHECK_EQUAL(spanprof_session_start(&options, &session), SPANPROF_OK);
  return session;
}

static spanprof_stats stats_now(void) {
  spanprof_stats stats = {.struct_size = sizeof stats};

  CHECK_EQUAL(spanprof_stats_get(&stats), SPANPROF_OK);
  return stats;
}

typedef struct worker {
  pthread_t thread;
  sem_t go;
  bool registers;
  bool enters;
} worker;

/* Wait until the test releases the worker, use CPU time, and return. */
static void *worker_run(void *data) {
  worker *self = data;
  spanprof_span_token token = 0;
  spanprof_span span = 0;

  if (self->registers)
    CHECK_EQUAL(spanprof_thread_register(), SPANPROF_OK);
  if (self->enters) {
    CHECK_EQUAL(spanprof_span_start_named("worker", &span), SPANPROF_OK);
    CHECK_EQUAL(spanprof_span_enter(span, &token), SPANPROF_OK);
  }
  sem_wait(&self->go);
  burn_cpu_ms(300);
  if (self->enters)
    spanprof_span_leave(token);
  spanprof_span_end(span);
  return NULL;
}

static void worker_start(worker *self, bool registers, bool enters) {
  self->registers = registers;
  self->enters = enters;
  CHECK_EQUAL(sem_init(&self->go, 0, 0), 0);
  CHECK_EQUAL(pthread_create(&self->thread, NULL, worker_run, self), 0);
}

static void worker_finish(worker *self) {
  sem_post(&self->go);
  pthread_join(self->thread, NULL);
  sem_destroy(&self->go);
}

static int lines_logged;

static void log_with_the_lock_free(void *data, spanprof_log_level level,
                                   const char *message) {
  (void)data, (void)level;
  if (strcmp(message, "profiling is paused") != 0 &&
      strcmp(message, "profiling is resumed") != 0)
    return;
  CHECK_EQUAL(pthread_mutex_trylock(&sp_session_state.lock), 0);
  pthread_mutex_unlock(&sp_session_state.lock);
  lines_logged++;
}

static void signals_reset(void) {
  int number;

  for (number = 1; number <= SIGRTMAX; number++)
    signal(number, SIG_DFL);
}

/* daemon(7) recommends to reset all signals. If a profiling timer still ran,
 * its signal would end the process. */
static void a_program_may_reset_its_signals_in_a_pause(void) {
  spanprof_session *session = session_begin(false);
  uint64_t taken;
  int i;

  for (i = 0; i < 3; i++) {
    CHECK_EQUAL(spanprof_session_pause(session), SPANPROF_OK);
    signals_reset();
    burn_cpu_ms(50);
    taken = stats_now().samples_taken;
    CHECK_EQUAL(spanprof_session_resume(session), SPANPROF_OK);
    burn_cpu_ms(50);
    CHECK(stats_now().samples_taken > taken);
  }
  CHECK_EQUAL(spanprof_session_stop(session, 5000), SPANPROF_OK);
}

static void a_program_may_reset_its_signals_between_sessions(void) {
  int i;

  for (i = 0; i < 3; i++) {
    spanprof_session *session = session_begin(false);

    burn_cpu_ms(50);
    CHECK_EQUAL(spanprof_session_stop(session, 5000), SPANPROF_OK);
    CHECK(profiles_cpu_ns > 0);
    signals_reset();
    burn_cpu_ms(20);
  }
}

static void a_log_callback_may_wait_for_a_fork(void) {
  spanprof_options options;
  spanprof_session *session;

  CHECK_EQUAL(spanprof_options_init(&options, sizeof options), SPANPROF_OK);
  options.on_profile = profile_sum;
  options.log = log_with_the_lock_free;
  CHECK_EQUAL(spanprof_session_start(&options, &session), SPANPROF_OK);
  CHECK_EQUAL(spanprof_session_pause(session), SPANPROF_OK);
  CHECK_EQUAL(spanprof_session_resume(session), SPANPROF_OK);
  CHECK_EQUAL(lines_logged, 2);
  CHECK_EQUAL(spanprof_session_stop(session, 5000), SPANPROF_OK);
  CHECK_EQUAL(spanprof_session_pause(session), SPANPROF_ERR_STATE);
}

static void nothing_is_sampled_while_paused(void) {
  spanprof_session *session = session_begin(false);
  worker found, registered, late;
  spanprof_stats before, after;

  worker_start(&found, false, false);
  worker_start(&registered, true, false);
  burn_cpu_ms(100);
  usleep(SCANS_US);
  CHECK_EQUAL(spanprof_session_pause(session), SPANPROF_OK);
  before = stats_now();
  CHECK(before.samples_taken > 0);
  worker_start(&late, true, false);
  burn_cpu_ms(200);
  CHECK_EQUAL(spanprof_session_pause(session), SPANPROF_OK);
  usleep(SCANS_US);
  /* When a registered thread ends, its last CPU time is recorded, but not
   * during a pause. */
  worker_finish(&found);
  worker_finish(&registered);
  worker_finish(&late);
  CHECK_EQUAL(spanprof_session_flush(session, 5000), SPANPROF_OK);
  after = stats_now();
  CHECK_EQUAL(after.samples_taken, before.samples_taken);
  CHECK_EQUAL(after.ticks_taken, before.ticks_taken);
  CHECK_EQUAL(after.threads_profiled, 0);
  CHECK_EQUAL(after.threads_unprofiled, 0);
  CHECK_EQUAL(after.samples_pending, 0);
  CHECK_EQUAL(profiles_cpu_ns, after.ticks_taken * 1000000);
  CHECK_EQUAL(spanprof_session_stop(session, 5000), SPANPROF_OK);
  CHECK_EQUAL(stats_now().samples_taken, before.samples_taken);
}

static void every_thread_is_sampled_after_the_resume(void) {
  spanprof_session *session = session_begin(false);
  worker before, meanwhile;
  uint64_t taken;

  worker_start(&before, false, false);
  usleep(SCANS_US);
  CHECK_EQUAL(spanprof_session_pause(session), SPANPROF_OK);
  worker_start(&meanwhile, false, false);
  usleep(SCANS_US);
  burn_cpu_ms(200);
  taken = stats_now().ticks_taken;
  CHECK_EQUAL(spanprof_session_resume(session), SPANPROF_OK);
  CHECK_EQUAL(spanprof_session_resume(session), SPANPROF_OK);
  worker_finish(&before);
  CHECK(stats_now().ticks_taken >= taken + 200);
  taken = stats_now().ticks_taken;
  worker_finish(&meanwhile);
  CHECK(stats_now().ticks_taken >= taken + 200);
  taken = stats_now().ticks_taken;
  burn_cpu_ms(300);
  /* The CPU time of the pause is not in any tick. */
  CHECK(stats_now().ticks_taken >= taken + 200);
  CHECK(stats_now().ticks_taken <= taken + 400);
  CHECK_EQUAL(spanprof_session_stop(session, 5000), SPANPROF_OK);
}

static void a_paused_session_can_be_stopped_and_the_next_is_not_paused(void) {
  spanprof_session *session = session_begin(false);

  CHECK_EQUAL(spanprof_session_pause(session), SPANPROF_OK);
  CHECK_EQUAL(spanprof_session_stop(session, 5000), SPANPROF_OK);
  CHECK_EQUAL(spanprof_session_pause(session), SPANPROF_ERR_STATE);
  CHECK_EQUAL(spanprof_session_resume(session), SPANPROF_ERR_STATE);
  CHECK_EQUAL(spanprof_session_pause(NULL), SPANPROF_ERR_STATE);
  session = session_begin(false);
  burn_cpu_ms(200);
  CHECK(stats_now().samples_taken > 0);
  CHECK_EQUAL(spanprof_session_stop(session, 5000), SPANPROF_OK);
}

static int child_run(void) {
  spanprof_session *session = spanprof_session_current();

  burn_cpu_ms(200);
  if (stats_now().samples_taken != 0)
    return 1;
  if (spanprof_session_resume(session))
    return 2;
  burn_cpu_ms(200);
  return stats_now().samples_taken > 0 ? 0 : 3;
}

static void a_child_of_a_paused_process_is_paused(void) {
  spanprof_session *session = session_begin(false);
  int status;
  pid_t child;

  if (CHECK_FORKS) {
    CHECK_EQUAL(spanprof_session_pause(session), SPANPROF_OK);
    child = fork();
    if (child == 0)
      _exit(child_run());
    CHECK_EQUAL(waitpid(child, &status, 0), child);
    CHECK_EQUAL(status, 0);
  }
  CHECK_EQUAL(spanprof_session_stop(session, 5000), SPANPROF_OK);
}

/* Return the ticks of a worker that registers itself, or enters a span, or does
 * neither, while no other thread works. */
static uint64_t ticks_of(bool registers, bool enters) {
  uint64_t before;
  worker one;

  worker_start(&one, registers, enters);
  usleep(SCANS_US);
  before = stats_now().ticks_taken;
  worker_finish(&one);
  return stats_now().ticks_taken - before;
}

static void only_registered_threads_are_sampled_on_request(void) {
  spanprof_session *session = session_begin(true);

  CHECK_EQUAL(ticks_of(false, false), 0);
  CHECK(ticks_of(true, false) >= 200);
  CHECK(ticks_of(false, true) >= 200);
  CHECK_EQUAL(stats_now().threads_unprofiled, 0);
  burn_cpu_ms(200); /* this thread has started the session, so it is sampled */
  CHECK(stats_now().samples_taken > 0);
  CHECK_EQUAL(spanprof_session_stop(session, 5000), SPANPROF_OK);
  session = session_begin(false);
  CHECK(ticks_of(false, false) >= 200);
  CHECK_EQUAL(spanprof_session_stop(session, 5000), SPANPROF_OK);
}

static const check_test tests[] = {
    {"a_program_may_reset_its_signals_in_a_pause",
     a_program_may_reset_its_signals_in_a_pause},
    {"a_program_may_reset_its_signals_between_sessions",
     a_program_may_reset_its_signals_between_sessions},
    {"a_log_callback_may_wait_for_a_fork", a_log_callback_may_wait_for_a_fork},
    {"nothing_is_sampled_while_paused", nothing_is_sampled_while_paused},
    {"every_thread_is_sampled_after_the_resume",
     every_thread_is_sampled_after_the_resume},
    {"a_paused_session_can_be_stopped_and_the_next_is_not_paused",
     a_paused_session_can_be_stopped_and_the_next_is_not_paused},
    {"a_child_of_a_paused_process_is_paused",
     a_child_of_a_paused_process_is_paused},
    {"only_registered_threads_are_sampled_on_request",
     only_registered_threads_are_sampled_on_request},
};

int main(int argc, char **argv) {
  return check_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
