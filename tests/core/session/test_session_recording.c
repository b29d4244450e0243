#include <spanprof/spanprof.h>

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "burn.h"
#include "check.h"
#include "profile/pprof/gunzip.h"

/* The profile of a recording. */
typedef struct recorded {
  sp_buffer pprof; /* decompressed */
  uint64_t samples;
  uint64_t cpu_ns;
  char note[160];
} recorded;

static recorded recording_end(spanprof_recording *recording) {
  const spanprof_profile *view;
  recorded out = {.samples = 0};

  CHECK_EQUAL(spanprof_recording_end(recording, &view), SPANPROF_OK);
  CHECK_EQUAL(view->struct_size, sizeof *view);
  sp_buffer_init(&out.pprof, &sp_mem_default);
  CHECK_EQUAL(sp_gunzip(&out.pprof, view->bytes, view->size_bytes, 1u << 26),
              SPANPROF_OK);
  out.samples = view->samples;
  out.cpu_ns = view->cpu_ns;
  snprintf(out.note, sizeof out.note, "%s", view->note ? view->note : "");
  spanprof_profile_free(view);
  return out;
}

static bool recorded_has(const recorded *profile, const char *text) {
  return memmem(profile->pprof.data, profile->pprof.size, text, strlen(text));
}

static spanprof_recording *recording_begin(spanprof_recording_scope scope) {
  spanprof_recording_options options;
  spanprof_recording *recording;

  CHECK_EQUAL(spanprof_recording_options_init(&options, sizeof options),
              SPANPROF_OK);
  options.scope = scope;
  CHECK_EQUAL(spanprof_recording_begin(&options, &recording), SPANPROF_OK);
  return recording;
}

static int windows_count, windows_samples;

static void window_count(void *data, const spanprof_profile *view) {
  (void)data;
  CHECK(view->note == NULL);
  windows_count++;
  windows_samples += (int)view->samples;
}

static uint64_t samples_taken(void) {
  spanprof_stats stats = {.struct_size = sizeof stats};

  CHECK_EQUAL(spanprof_stats_get(&stats), SPANPROF_OK);
  return stats.samples_taken;
}

/* Use CPU time until there is a sample, because on a busy machine the collector
 * may find this thread late. */
static void burn_until_sampled(void) {
  const uint64_t before = samples_taken();
  int i;

  for (i = 0; i < 1000 && samples_taken() == before; i++)
    burn_cpu_ms(20);
  CHECK(samples_taken() > before);
}

static spanprof_session *session_begin(void) {
  spanprof_options options;
  spanprof_session *session;

  spanprof_options_init(&options, sizeof options);
  options.application_name = "recording/test";
  options.server_address = "";
  options.upload_interval_ms = 3600000;
  options.on_profile = window_count;
  options.log_level = SPANPROF_LOG_OFF;
  windows_count = windows_samples = 0;
  CHECK_EQUAL(spanprof_session_start(&options, &session), SPANPROF_OK);
  return session;
}

static void a_recording_runs_next_to_the_windows(void) {
  spanprof_session *session = session_begin();
  spanprof_stats stats = {.struct_size = sizeof stats};
  spanprof_recording *recording;
  recorded profile;

  burn_until_sampled();
  CHECK_EQUAL(spanprof_recording_begin(NULL, &recording), SPANPROF_OK);
  burn_until_sampled();
  profile = recording_end(recording);
  CHECK(profile.samples > 0);
  CHECK(recorded_has(&profile, "burn_cpu_ns"));
  CHECK_TEXT(profile.note, "");
  CHECK_EQUAL(windows_count, 0);
  CHECK_EQUAL(spanprof_session_stop(session, 20000), SPANPROF_OK);
  /* The session has one window, which also has the samples that were taken
   * before the recording. */
  CHECK_EQUAL(windows_count, 1);
  CHECK(windows_samples > (int)profile.samples);
  CHECK_EQUAL(spanprof_stats_get(&stats), SPANPROF_OK);
  CHECK_EQUAL(stats.profiles_made, 1);
  CHECK_EQUAL(stats.samples_pending, 0);
  CHECK_EQUAL(stats.samples_exported, windows_samples);
  sp_buffer_dispose(&profile.pprof);
}

static void sampling_runs_while_there_are_recordings(void) {
  int tasks = tasks_count();
  spanprof_recording *first, *second;
  recorded profile;

  CHECK_EQUAL(spanprof_recording_begin(NULL, &first), SPANPROF_OK);
  CHECK_EQUAL(spanprof_recording_begin(NULL, &second), SPANPROF_OK);
  CHECK(spanprof_session_current() == NULL);
  CHECK_EQUAL(spanprof_recording_end(first, NULL), SPANPROF_OK);
  burn_until_sampled();
  profile = recording_end(second);
  CHECK(profile.samples > 0);
  CHECK(recorded_has(&profile, "burn_cpu_ns"));
  CHECK(tasks_fall_to(tasks));
  sp_buffer_dispose(&profile.pprof);
}

static void a_recording_has_the_name_of_an_ended_span_of_an_ended_window(void) {
  static const uint8_t id[8] = {0x9a, 0x51, 0x71, 0x83, 0xf2, 0x6a, 0x08, 0x9d};
  spanprof_session *session = session_begin();
  spanprof_span_info info = {.struct_size = sizeof info,
                             .trace_id = {1},
                             .flags = SPANPROF_SPAN_SAMPLED,
                             .name = "checkout",
                             .name_bytes = 8};
  spanprof_recording *recording;
  spanprof_span_token token;
  spanprof_span span;
  recorded profile;

  memcpy(info.span_id, id, sizeof id);
  CHECK_EQUAL(spanprof_recording_begin(NULL, &recording), SPANPROF_OK);
  CHECK_EQUAL(spanprof_span_start(NULL, &info, &span), SPANPROF_OK);
  CHECK_EQUAL(spanprof_span_enter(span, &token), SPANPROF_OK);
  burn_until_sampled();
  spanprof_span_leave(token);
  spanprof_span_end(span);
  CHECK_EQUAL(spanprof_session_flush(session, 20000), SPANPROF_OK);
  CHECK_EQUAL(windows_count, 1);
  profile = recording_end(recording);
  CHECK(recorded_has(&profile, "checkout"));
  CHECK(recorded_has(&profile, "9a517183f26a089d"));
  CHECK_EQUAL(spanprof_session_stop(session, 20000), SPANPROF_OK);
  sp_buffer_dispose(&profile.pprof);
}

/* A thread of a test. The threads run one after the other, each in a span of
 * its own. */
typedef struct worker {
  spanprof_recording_scope scope;
  spanprof_mark mark; /* mark of the recording to which the thread's work
                       * belongs */
  char span[16];
  recorded profile;
} worker;

static void span_burn(const char *name) {
  spanprof_span_token token;
  spanprof_span span;

  CHECK_EQUAL(spanprof_span_start_named(name, &span), SPANPROF_OK);
  CHECK_EQUAL(spanprof_span_enter(span, &token), SPANPROF_OK);
  /* Use a fixed CPU time, because samples of other threads do not prove that
   * this thread is sampled. */
  burn_cpu_ms(100);
  spanprof_span_leave(token);
  spanprof_span_end(span);
}

static void *worker_record(void *data) {
  worker *work = data;
  spanprof_recording *recording;

  CHECK_EQUAL(spanprof_thread_register(), SPANPROF_OK);
  recording = recording_begin(work->scope);
  span_burn(work->span);
  work->profile = recording_end(recording);
  return NULL;
}

static void workers_record(spanprof_recording_scope scope) {
  worker workers[8];
  pthread_t threads[8];
  int i, j;

  for (i = 0; i < 8; i++) {
    workers[i] = (worker){.scope = scope};
    snprintf(workers[i].span, sizeof workers[i].span, "worker-%d", i);
    CHECK_EQUAL(pthread_create(&threads[i], NULL, worker_record, &workers[i]),
                0);
  }
  for (i = 0; i < 8; i++)
    pthread_join(threads[i], NULL);
  for (i = 0; i < 8; i++) {
    for (j = 0; j < 8; j++)
      CHECK_EQUAL(recorded_has(&workers[i].profile, workers[j].span), i == j);
    sp_buffer_dispose(&workers[i].profile.pprof);
  }
}

static void a_thread_recording_has_the_threads_samples(void) {
  spanprof_session *session = session_begin();

  workers_record(SPANPROF_RECORDING_THREAD);
  workers_record(SPANPROF_RECORDING_CONTEXT);
  CHECK_EQUAL(spanprof_session_stop(session, 20000), SPANPROF_OK);
  workers_record(SPANPROF_RECORDING_CONTEXT);
}

static void *worker_burn(void *data) {
  const worker *work = data;

  CHECK_EQUAL(spanprof_thread_register(), SPANPROF_OK);
  spanprof_mark_set(work->mark);
  span_burn(work->span);
  spanprof_mark_set(0);
  return NULL;
}

static void burn_in_a_thread(spanprof_mark mark, const char *span) {
  worker work = {.mark = mark};
  pthread_t thread;

  snprintf(work.span, sizeof work.span, "%s", span);
  CHECK_EQUAL(pthread_create(&thread, NULL, worker_burn, &work), 0);
  pthread_join(thread, NULL);
}

static void a_context_recording_has_the_marked_work(void) {
  spanprof_recording *outer, *inner;
  spanprof_context *context;
  spanprof_mark inner_mark;
  recorded all, part;

  outer = recording_begin(SPANPROF_RECORDING_CONTEXT);
  span_burn("before");
  inner = recording_begin(SPANPROF_RECORDING_CONTEXT);
  inner_mark = spanprof_mark_get();
  CHECK_EQUAL(inner_mark, spanprof_recording_mark(inner));
  CHECK_EQUAL(spanprof_context_new(&context), SPANPROF_OK);
  spanprof_context_switch(context);
  span_burn("coroutine");
  spanprof_context_switch(NULL);
  spanprof_context_free(context);
  burn_in_a_thread(inner_mark, "job");
  burn_in_a_thread(0, "neighbour");
  part = recording_end(inner);
  CHECK_EQUAL(spanprof_mark_get(), spanprof_recording_mark(outer));
  /* The inner recording has ended. The samples of a thread that still has the
   * inner recording's mark belong to the outer recording. */
  burn_in_a_thread(inner_mark, "late");
  all = recording_end(outer);
  CHECK_EQUAL(spanprof_mark_get(), 0);
  CHECK(recorded_has(&part, "coroutine"));
  CHECK(recorded_has(&part, "job"));
  CHECK(!recorded_has(&part, "before"));
  CHECK(!recorded_has(&part, "neighbour"));
  CHECK(!recorded_has(&part, "late"));
  CHECK(recorded_has(&all, "before"));
  CHECK(recorded_has(&all, "coroutine"));
  CHECK(recorded_has(&all, "job"));
  CHECK(recorded_has(&all, "late"));
  CHECK(!recorded_has(&all, "neighbour"));
  sp_buffer_dispose(&all.pprof);
  sp_buffer_dispose(&part.pprof);
}

static void a_span_recording_has_samples_of_all_threads(void) {
  spanprof_recording_options options;
  spanprof_recording *recording;
  spanprof_span_token token;
  spanprof_span span;
  recorded profile;

  CHECK_EQUAL(spanprof_span_start_named("wanted", &span), SPANPROF_OK);
  spanprof_recording_options_init(&options, sizeof options);
  options.scope = SPANPROF_RECORDING_SPAN;
  options.span = span;
  CHECK_EQUAL(spanprof_recording_begin(&options, &recording), SPANPROF_OK);
  span_burn("other");
  CHECK_EQUAL(spanprof_span_enter(span, &token), SPANPROF_OK);
  burn_until_sampled();
  spanprof_span_leave(token);
  profile = recording_end(recording);
  spanprof_span_end(span);
  CHECK(recorded_has(&profile, "wanted"));
  CHECK(!recorded_has(&profile, "other"));
  sp_buffer_dispose(&profile.pprof);
}

static void a_hundred_recordings_run_at_the_same_time(void) {
  spanprof_recording *recordings[100];
  int tasks = tasks_count(), i;

  for (i = 0; i < 100; i++)
    recordings[i] = recording_begin(i % 2 ? SPANPROF_RECORDING_CONTEXT
                                          : SPANPROF_RECORDING_ALL);
  burn_until_sampled();
  for (i = 0; i < 100; i++) {
    /* Recordings may end in any order. Here the inner ones end after the outer
     * ones. */
    recorded profile = recording_end(recordings[i]);

    CHECK(profile.samples > 0);
    sp_buffer_dispose(&profile.pprof);
  }
  spanprof_mark_set(0);
  CHECK(tasks_fall_to(tasks));
}

static void too_many_recordings_are_refused(void) {
  spanprof_recording *recordings[1025];
  int i;

  for (i = 0; i < 1024; i++)
    recordings[i] = recording_begin(SPANPROF_RECORDING_MARK);
  CHECK_EQUAL(spanprof_recording_begin(NULL, &recordings[1024]),
              SPANPROF_ERR_LIMIT);
  CHECK(recordings[1024] == NULL);
  CHECK(strstr(spanprof_last_error(), "1024 recordings"));
  for (i = 0; i < 1024; i++)
    CHECK_EQUAL(spanprof_recording_end(recordings[i], NULL), SPANPROF_OK);
}

static void a_recording_without_samples_has_a_profile(void) {
  recorded profile = recording_end(recording_begin(SPANPROF_RECORDING_MARK));

  CHECK_EQUAL(profile.cpu_ns, 0);
  CHECK(recorded_has(&profile, "nanoseconds"));
  sp_buffer_dispose(&profile.pprof);
}

static void a_duration_ends_a_recording(void) {
  spanprof_recording_options options;
  spanprof_recording *recording;
  const spanprof_profile *profile;

  spanprof_recording_options_init(&options, sizeof options);
  options.duration_ms = 1;
  CHECK_EQUAL(spanprof_recording_begin(&options, &recording), SPANPROF_OK);
  usleep(20000);
  CHECK_EQUAL(spanprof_recording_end(recording, &profile), SPANPROF_OK);
  CHECK(profile->duration_ns >= 1000000);
  CHECK(profile->note == NULL);
  spanprof_profile_free(profile);
}

static void a_start_or_stop_ends_a_recording_early(void) {
  spanprof_session *session;
  spanprof_recording *recording;
  recorded first, second;

  recording = recording_begin(SPANPROF_RECORDING_ALL);
  burn_until_sampled();
  session = session_begin();
  first = recording_end(recording);
  CHECK(first.samples > 0);
  CHECK(strstr(first.note, "ended early"));
  recording = recording_begin(SPANPROF_RECORDING_CONTEXT);
  burn_until_sampled();
  CHECK_EQUAL(spanprof_session_stop(session, 20000), SPANPROF_OK);
  second = recording_end(recording);
  CHECK(second.samples > 0);
  CHECK(strstr(second.note, "ended early"));
  CHECK(recorded_has(&second, "ended early"));
  CHECK(spanprof_session_current() == NULL);
  sp_buffer_dispose(&first.pprof);
  sp_buffer_dispose(&second.pprof);
}

static void the_sessions_rate_applies(void) {
  spanprof_session *session = session_begin();
  spanprof_recording_options options;
  spanprof_recording *recording;
  recorded profile;

  spanprof_recording_options_init(&options, sizeof options);
  options.sample_rate_hz = 1000;
  CHECK_EQUAL(spanprof_recording_begin(&options, &recording), SPANPROF_OK);
  profile = recording_end(recording);
  CHECK_TEXT(profile.note, "at the session's 100 Hz, not at 1000 Hz");
  CHECK(recorded_has(&profile, profile.note));
  sp_buffer_dispose(&profile.pprof);
  CHECK_EQUAL(spanprof_session_stop(session, 20000), SPANPROF_OK);
  CHECK_EQUAL(spanprof_recording_begin(&options, &recording), SPANPROF_OK);
  profile = recording_end(recording);
  CHECK_TEXT(profile.note, "");
  sp_buffer_dispose(&profile.pprof);
}

static void invalid_options_are_refused_with_a_message(void) {
  spanprof_recording *recording = (spanprof_recording *)&recording;
  spanprof_recording_options options;

  spanprof_recording_options_init(&options, sizeof options);
  options.sample_rate_hz = 1001;
  CHECK_EQUAL(spanprof_recording_begin(&options, &recording),
              SPANPROF_ERR_ARGUMENT);
  CHECK(recording == NULL);
  CHECK(strstr(spanprof_last_error(), "sample_rate_hz is 1001, not within"));
  options.sample_rate_hz = SPANPROF_UNSET;
  options.duration_ms = 0;
  CHECK_EQUAL(spanprof_recording_begin(&options, &recording),
              SPANPROF_ERR_ARGUMENT);
  CHECK(strstr(spanprof_last_error(), "duration_ms"));
  options.duration_ms = SPANPROF_UNSET;
  options.scope = 5;
  CHECK_EQUAL(spanprof_recording_begin(&options, &recording),
              SPANPROF_ERR_ARGUMENT);
  CHECK_EQUAL(spanprof_recording_end(NULL, NULL), SPANPROF_ERR_ARGUMENT);
  setenv("PYROSCOPE_SAMPLE_RATE", "5000", 1);
  CHECK_EQUAL(spanprof_recording_begin(NULL, &recording),
              SPANPROF_ERR_ARGUMENT);
  CHECK(strstr(spanprof_last_error(), "PYROSCOPE_SAMPLE_RATE"));
  unsetenv("PYROSCOPE_SAMPLE_RATE");
  setenv("PYROSCOPE_AGENT_ENABLED", "false", 1);
  CHECK_EQUAL(spanprof_recording_begin(NULL, &recording),
              SPANPROF_ERR_DISABLED);
  unsetenv("PYROSCOPE_AGENT_ENABLED");
}

/* The test in a forked child: it has neither the parent's recording nor the
 * parent's temporary session. */
static int child_run(spanprof_recording *of_parent) {
  const spanprof_profile *view;
  spanprof_recording *recording;
  recorded profile;

  if (!tasks_fall_to(1) || spanprof_session_current() ||
      spanprof_recording_end(of_parent, &view) != SPANPROF_ERR_STATE || view)
    return 1;
  recording = recording_begin(SPANPROF_RECORDING_CONTEXT);
  burn_until_sampled();
  profile = recording_end(recording);
  return profile.samples > 0 ? 0 : 2;
}

static void a_forked_child_has_no_recordings(void) {
#if CHECK_FORKS
  spanprof_recording *recording = recording_begin(SPANPROF_RECORDING_CONTEXT);
  recorded profile;
  pid_t child;
  int status;

  child = fork();
  CHECK(child >= 0);
  if (child == 0)
    _exit(child_run(recording));
  burn_until_sampled();
  CHECK_EQUAL(waitpid(child, &status, 0), child);
  CHECK_EQUAL(status, 0);
  profile = recording_end(recording);
  CHECK(profile.samples > 0);
  sp_buffer_dispose(&profile.pprof);
#else
  fprintf(stderr, "  skipped: a process with a sanitizer cannot fork\n");
#endif
}

static void the_process_may_exit_during_a_recording(void) {
#if CHECK_FORKS
  pid_t child = fork();
  int status;

  CHECK(child >= 0);
  if (child == 0) {
    recording_begin(SPANPROF_RECORDING_ALL);
    exit(0);
  }
  CHECK_EQUAL(waitpid(child, &status, 0), child);
  CHECK_EQUAL(status, 0);
#endif
}

static const check_test tests[] = {
    {"a_recording_runs_next_to_the_windows",
     a_recording_runs_next_to_the_windows},
    {"sampling_runs_while_there_are_recordings",
     sampling_runs_while_there_are_recordings},
    {"a_recording_has_the_name_of_an_ended_span_of_an_ended_window",
     a_recording_has_the_name_of_an_ended_span_of_an_ended_window},
    {"a_thread_recording_has_the_threads_samples",
     a_thread_recording_has_the_threads_samples},
    {"a_context_recording_has_the_marked_work",
     a_context_recording_has_the_marked_work},
    {"a_span_recording_has_samples_of_all_threads",
     a_span_recording_has_samples_of_all_threads},
    {"a_hundred_recordings_run_at_the_same_time",
     a_hundred_recordings_run_at_the_same_time},
    {"too_many_recordings_are_refused", too_many_recordings_are_refused},
    {"a_recording_without_samples_has_a_profile",
     a_recording_without_samples_has_a_profile},
    {"a_duration_ends_a_recording", a_duration_ends_a_recording},
    {"a_start_or_stop_ends_a_recording_early",
     a_start_or_stop_ends_a_recording_early},
    {"the_sessions_rate_applies", the_sessions_rate_applies},
    {"invalid_options_are_refused_with_a_message",
     invalid_options_are_refused_with_a_message},
    {"a_forked_child_has_no_recordings", a_forked_child_has_no_recordings},
    {"the_process_may_exit_during_a_recording",
     the_process_may_exit_during_a_recording},
};

int main(int argc, char **argv) {
  /* Register the thread, because the collector would find it late if it got
   * little CPU time. */
  CHECK_EQUAL(spanprof_thread_register(), SPANPROF_OK);
  return check_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
