#include <spanprof/spanprof.h>

#include <pthread.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "burn.h"
#include "check.h"
#include "profile/gunzip.h"

/* What a take gave. */
typedef struct taken {
  sp_buffer pprof; /* unpacked */
  uint64_t samples;
  uint64_t cpu_ns;
  uint64_t duration_ns;
  int count;
} taken;

static void take_keep(void *data, const spanprof_profile_view *view) {
  taken *out = data;

  CHECK_EQUAL(view->struct_size, sizeof *view);
  sp_buffer_init(&out->pprof, &sp_mem_default);
  CHECK_EQUAL(sp_gunzip(&out->pprof, view->bytes, view->size_bytes, 1u << 26),
              SPANPROF_OK);
  out->samples = view->samples;
  out->cpu_ns = view->cpu_ns;
  out->duration_ns = view->duration_ns;
  out->count++;
}

static bool taken_has(const taken *profile, const char *text) {
  return memmem(profile->pprof.data, profile->pprof.size, text, strlen(text));
}

static int windows_count, windows_samples;

static void window_count(void *data, const spanprof_profile_view *view) {
  (void)data;
  windows_count++;
  windows_samples += (int)view->samples;
}

/* Whether a take of so long had all of that CPU time in it. On a machine that
 * is too busy for it, a take that follows the clock need not have a sample. */
static bool burn_within(uint64_t take_ms, uint64_t cpu_ms) {
  const uint64_t until_ns = clock_ns(CLOCK_MONOTONIC) + take_ms * 1000000;

  burn_cpu_ms(cpu_ms);
  if (clock_ns(CLOCK_MONOTONIC) < until_ns)
    return true;
  fprintf(stderr, "  too busy a machine: %u ms of CPU took longer than %u ms\n",
          (unsigned)cpu_ms, (unsigned)take_ms);
  return false;
}

static uint64_t samples_taken(void) {
  spanprof_stats stats = {.struct_size = sizeof stats};

  CHECK_EQUAL(spanprof_stats_get(&stats), SPANPROF_OK);
  return stats.samples_taken;
}

/* Until there is a sample: a busy machine's collector finds this thread late.
 */
static void burn_until_sampled(void) {
  const uint64_t before = samples_taken();
  int i;

  for (i = 0; i < 1000 && samples_taken() == before; i++)
    burn_cpu_ms(20);
}

static spanprof_session *session_begin(void) {
  spanprof_options options;
  spanprof_session *session;

  spanprof_options_init(&options, sizeof options);
  options.application_name = "take/test";
  options.server_address = "";
  options.upload_interval_ms = 3600000;
  options.on_profile = window_count;
  options.log_level = SPANPROF_LOG_OFF;
  windows_count = windows_samples = 0;
  CHECK_EQUAL(spanprof_session_start(&options, &session), SPANPROF_OK);
  return session;
}

static void it_is_taken_beside_the_windows(void) {
  spanprof_session *session = session_begin();
  spanprof_stats stats = {.struct_size = sizeof stats};
  taken profile = {.count = 0};
  spanprof_take *take;
  bool within;

  burn_cpu_ms(200);
  CHECK_EQUAL(spanprof_take_begin(400, &take), SPANPROF_OK);
  within = burn_within(400, 200);
  CHECK_EQUAL(spanprof_take_end(take, 20000, take_keep, &profile), SPANPROF_OK);
  CHECK_EQUAL(profile.count, 1);
  CHECK(!within || profile.samples > 0);
  CHECK(profile.duration_ns >= 400000000u);
  CHECK(!within || taken_has(&profile, "burn_cpu_ns"));
  CHECK_EQUAL(windows_count, 0);
  CHECK_EQUAL(spanprof_session_stop(session, 20000), SPANPROF_OK);
  /* One window, with what was sampled before the take, too. */
  CHECK_EQUAL(windows_count, 1);
  CHECK(windows_samples > (int)profile.samples);
  CHECK_EQUAL(spanprof_stats_get(&stats), SPANPROF_OK);
  CHECK_EQUAL(stats.profiles_made, 1);
  CHECK_EQUAL(stats.samples_pending, 0);
  CHECK_EQUAL(stats.samples_exported, windows_samples);
  sp_buffer_dispose(&profile.pprof);
}

static void a_session_is_there_for_as_long_as_it_takes(void) {
  taken profile = {.count = 0};
  int tasks = tasks_count();
  spanprof_take *take;
  bool within;

  CHECK_EQUAL(spanprof_take_begin(300, &take), SPANPROF_OK);
  CHECK(spanprof_session_current() == NULL);
  within = burn_within(300, 200);
  CHECK_EQUAL(spanprof_take_end(take, 20000, take_keep, &profile), SPANPROF_OK);
  CHECK(!within || profile.samples > 0);
  CHECK(!within || taken_has(&profile, "burn_cpu_ns"));
  CHECK(tasks_fall_to(tasks));
  sp_buffer_dispose(&profile.pprof);
}

static void spans_are_named_though_windows_end_and_spans_too(void) {
  static const uint8_t id[8] = {0x9a, 0x51, 0x71, 0x83, 0xf2, 0x6a, 0x08, 0x9d};
  spanprof_session *session = session_begin();
  spanprof_span_info info = {.struct_size = sizeof info,
                             .trace_id = {1},
                             .flags = SPANPROF_SPAN_SAMPLED,
                             .name = "checkout",
                             .name_bytes = 8};
  taken profile = {.count = 0};
  spanprof_span_token token;
  spanprof_take *take;
  spanprof_span span;
  bool within;

  memcpy(info.span_id, id, sizeof id);
  CHECK_EQUAL(spanprof_take_begin(500, &take), SPANPROF_OK);
  CHECK_EQUAL(spanprof_span_start(NULL, &info, &span), SPANPROF_OK);
  CHECK_EQUAL(spanprof_span_enter(span, &token), SPANPROF_OK);
  within = burn_within(500, 150);
  spanprof_span_leave(token);
  spanprof_span_end(span);
  CHECK_EQUAL(spanprof_session_flush(session, 20000), SPANPROF_OK);
  CHECK_EQUAL(windows_count, 1);
  CHECK_EQUAL(spanprof_take_end(take, 20000, take_keep, &profile), SPANPROF_OK);
  CHECK(!within || taken_has(&profile, "checkout"));
  CHECK(!within || taken_has(&profile, "9a517183f26a089d"));
  CHECK_EQUAL(spanprof_session_stop(session, 20000), SPANPROF_OK);
  sp_buffer_dispose(&profile.pprof);
}

static void four_are_under_way_at_most(void) {
  spanprof_take *takes[5];
  taken profiles[4] = {{.count = 0}};
  int tasks = tasks_count(), i;
  bool within;

  for (i = 0; i < 4; i++)
    CHECK_EQUAL(spanprof_take_begin(100, &takes[i]), SPANPROF_OK);
  CHECK_EQUAL(spanprof_take_begin(100, &takes[4]), SPANPROF_ERR_LIMIT);
  CHECK(takes[4] == NULL);
  CHECK(strstr(spanprof_last_error(), "4 profiles"));
  within = burn_within(100, 50);
  for (i = 0; i < 4; i++) {
    CHECK_EQUAL(spanprof_take_end(takes[i], 20000, take_keep, &profiles[i]),
                SPANPROF_OK);
    CHECK(!within || profiles[i].samples > 0);
    sp_buffer_dispose(&profiles[i].pprof);
  }
  CHECK(tasks_fall_to(tasks));
}

static void one_without_a_sample_is_a_profile(void) {
  taken profile = {.count = 0};
  spanprof_take *take;

  CHECK_EQUAL(spanprof_take_begin(1, &take), SPANPROF_OK);
  CHECK_EQUAL(spanprof_take_end(take, 20000, take_keep, &profile), SPANPROF_OK);
  CHECK_EQUAL(profile.cpu_ns, 0);
  CHECK(taken_has(&profile, "nanoseconds"));
  sp_buffer_dispose(&profile.pprof);
}

static void a_start_and_a_stop_end_it_early(void) {
  taken first = {.count = 0}, second = {.count = 0};
  spanprof_session *session;
  spanprof_take *take;

  CHECK_EQUAL(spanprof_take_begin(300000, &take), SPANPROF_OK);
  burn_until_sampled();
  session = session_begin();
  CHECK_EQUAL(spanprof_take_end(take, 5000, take_keep, &first), SPANPROF_OK);
  CHECK(first.samples > 0);
  CHECK_EQUAL(spanprof_take_begin(300000, &take), SPANPROF_OK);
  burn_until_sampled();
  CHECK_EQUAL(spanprof_session_stop(session, 20000), SPANPROF_OK);
  CHECK_EQUAL(spanprof_take_end(take, 5000, take_keep, &second), SPANPROF_OK);
  CHECK(second.samples > 0);
  CHECK(spanprof_session_current() == NULL);
  sp_buffer_dispose(&first.pprof);
  sp_buffer_dispose(&second.pprof);
}

static void one_that_is_given_up_gives_nothing(void) {
  taken profile = {.count = 0};
  int tasks = tasks_count();
  spanprof_take *take;

  CHECK_EQUAL(spanprof_take_begin(300000, &take), SPANPROF_OK);
  CHECK_EQUAL(spanprof_take_end(take, 0, take_keep, &profile),
              SPANPROF_ERR_TIMEOUT);
  CHECK_EQUAL(profile.count, 0);
  CHECK(tasks_fall_to(tasks));
}

static void what_cannot_be_is_refused_in_a_sentence(void) {
  spanprof_take *take = (spanprof_take *)&take;

  CHECK_EQUAL(spanprof_take_begin(0, &take), SPANPROF_ERR_ARGUMENT);
  CHECK(take == NULL);
  CHECK_EQUAL(spanprof_take_begin(300001, &take), SPANPROF_ERR_ARGUMENT);
  CHECK(strstr(spanprof_last_error(), "1 ms to 300 s"));
  CHECK_EQUAL(spanprof_take_end(NULL, 0, take_keep, NULL),
              SPANPROF_ERR_ARGUMENT);
  setenv("PYROSCOPE_SAMPLE_RATE", "5000", 1);
  CHECK_EQUAL(spanprof_take_begin(10, &take), SPANPROF_ERR_ARGUMENT);
  CHECK(strstr(spanprof_last_error(), "PYROSCOPE_SAMPLE_RATE"));
  unsetenv("PYROSCOPE_SAMPLE_RATE");
  setenv("PYROSCOPE_AGENT_ENABLED", "false", 1);
  CHECK_EQUAL(spanprof_take_begin(10, &take), SPANPROF_ERR_DISABLED);
  unsetenv("PYROSCOPE_AGENT_ENABLED");
}

/* In a child: neither the take nor the session that was there for it. */
static int child_run(spanprof_take *of_parent) {
  taken profile = {.count = 0};
  spanprof_take *take;
  bool within;

  if (!tasks_fall_to(1) || spanprof_session_current() ||
      spanprof_take_end(of_parent, 1000, take_keep, &profile) !=
          SPANPROF_ERR_STATE)
    return 1;
  if (spanprof_take_begin(300, &take))
    return 2;
  within = burn_within(300, 200);
  if (spanprof_take_end(take, 20000, take_keep, &profile) ||
      (within && !profile.samples))
    return 3;
  return 0;
}

static void a_forked_child_has_none(void) {
#if CHECK_FORKS
  taken profile = {.count = 0};
  spanprof_take *take;
  pid_t child;
  bool within;
  int status;

  CHECK_EQUAL(spanprof_take_begin(1000, &take), SPANPROF_OK);
  child = fork();
  CHECK(child >= 0);
  if (child == 0)
    _exit(child_run(take));
  within = burn_within(1000, 200);
  CHECK_EQUAL(waitpid(child, &status, 0), child);
  CHECK_EQUAL(status, 0);
  CHECK_EQUAL(spanprof_take_end(take, 20000, take_keep, &profile), SPANPROF_OK);
  CHECK(!within || profile.samples > 0);
  sp_buffer_dispose(&profile.pprof);
#else
  fprintf(stderr, "  skipped: a sanitizer's process cannot fork\n");
#endif
}

static void the_process_may_end_meanwhile(void) {
#if CHECK_FORKS
  spanprof_take *take;
  pid_t child = fork();
  int status;

  CHECK(child >= 0);
  if (child == 0) {
    CHECK_EQUAL(spanprof_take_begin(300000, &take), SPANPROF_OK);
    exit(0);
  }
  CHECK_EQUAL(waitpid(child, &status, 0), child);
  CHECK_EQUAL(status, 0);
#endif
}

static const check_test tests[] = {
    {"it_is_taken_beside_the_windows", it_is_taken_beside_the_windows},
    {"a_session_is_there_for_as_long_as_it_takes",
     a_session_is_there_for_as_long_as_it_takes},
    {"spans_are_named_though_windows_end_and_spans_too",
     spans_are_named_though_windows_end_and_spans_too},
    {"four_are_under_way_at_most", four_are_under_way_at_most},
    {"one_without_a_sample_is_a_profile", one_without_a_sample_is_a_profile},
    {"a_start_and_a_stop_end_it_early", a_start_and_a_stop_end_it_early},
    {"one_that_is_given_up_gives_nothing", one_that_is_given_up_gives_nothing},
    {"what_cannot_be_is_refused_in_a_sentence",
     what_cannot_be_is_refused_in_a_sentence},
    {"a_forked_child_has_none", a_forked_child_has_none},
    {"the_process_may_end_meanwhile", the_process_may_end_meanwhile},
};

int main(int argc, char **argv) {
  return check_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
