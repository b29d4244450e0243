/* Runs the handler, labels and spans, so that check_cost.py can count their
 * instructions under callgrind. At the end of each case, callgrind dumps the
 * count with the name of the case. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <valgrind/callgrind.h>

#include <spanprof/spanprof.h>

#define COST_OPERATIONS 1000
#define COST_SIGNALS    50

static int cost_signal;
static void *cost_signal_value;
static spanprof_text_id cost_name, cost_value;
static spanprof_span cost_span;
static volatile unsigned cost_kept;

static void die(const char *why) {
  fprintf(stderr, "cost_core: %s\n", why);
  exit(1);
}

/* Let callgrind dump the count since the last dump, as "NAME/TIMES". */
static void case_end(const char *name, int times) {
  char title[64];

  snprintf(title, sizeof title, "%s/%d", name, times);
  CALLGRIND_DUMP_STATS_AT(title);
}

static void nothing_run(void) {
  spanprof_version();
}

static void label_text_run(void) {
  spanprof_label_token token;

  spanprof_label_push_ids(cost_name, cost_value, &token);
  spanprof_label_pop(token);
}

static void label_run(void) {
  spanprof_label_token token;

  spanprof_label_push_bytes("controller", 10, "orders", 6, &token);
  spanprof_label_pop(token);
}

static void span_enter_run(void) {
  spanprof_span_token token;

  spanprof_span_enter(cost_span, &token);
  spanprof_span_leave(token);
}

static void span_run(void) {
  spanprof_span_info info = {.struct_size = sizeof info,
                             .flags = SPANPROF_SPAN_SAMPLED,
                             .name = "GET /orders",
                             .name_bytes = 11};
  spanprof_span span;

  if (spanprof_span_start(NULL, &info, &span) != SPANPROF_OK)
    die(spanprof_last_error());
  spanprof_span_end(span);
}

static void operations_count(const char *name, void (*run)(void)) {
  int i;

  run(); /* not counted: the first use */
  CALLGRIND_ZERO_STATS;
  for (i = 0; i < COST_OPERATIONS; i++)
    run();
  case_end(name, COST_OPERATIONS);
}

static void counting_handler(int number, siginfo_t *info, void *ucontext) {
  (void)info, (void)ucontext;
  cost_kept += (unsigned)number;
}

/* Send signals. Sleep after each of them, so that the collector can empty the
 * ring. */
static void signals_send(const char *name, int number, void *value) {
  const struct timespec pause = {.tv_nsec = 10000000};
  const pid_t pid = getpid();
  siginfo_t info = {.si_signo = number, .si_code = SI_TIMER};
  int i;

  info.si_value.sival_ptr = value;
  CALLGRIND_ZERO_STATS;
  for (i = 0; i < COST_SIGNALS; i++) {
    syscall(SYS_rt_tgsigqueueinfo, pid, pid, number, &info);
    nanosleep(&pause, NULL);
  }
  case_end(name, COST_SIGNALS);
}

static __attribute__((noinline)) void frames_go(int left, const char *name) {
  volatile char frame[96];

  frame[0] = 1;
  if (left > 0)
    frames_go(left - 1, name);
  else
    signals_send(name, cost_signal, cost_signal_value);
  cost_kept += (unsigned)frame[0];
}

/* Catch the signal of a timer to get its value, which identifies the thread. */
static void value_catch(void) {
  const struct timespec now = {0};
  sigset_t ours, before;
  siginfo_t info;

  sigemptyset(&ours);
  sigaddset(&ours, cost_signal);
  pthread_sigmask(SIG_BLOCK, &ours, &before);
  while (sigtimedwait(&ours, &info, &now) != cost_signal)
    cost_kept++;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  cost_signal_value = info.si_value.sival_ptr;
}

/* Touch a large part of the stack before handlers run, because valgrind does
 * not always extend the main thread's stack for a handler. */
static __attribute__((noinline)) void stack_grow(void) {
  volatile char below[65536];

  memset((char *)below, 1, sizeof below);
  cost_kept += (unsigned)below[0];
}

static void cases_run(void) {
  struct sigaction action = {.sa_sigaction = counting_handler,
                             .sa_flags = SA_SIGINFO | SA_RESTART};
  spanprof_label_token label;
  spanprof_span_token token;

  operations_count("nothing", nothing_run);
  operations_count("label_push_pop_interned", label_text_run);
  operations_count("label_push_pop_strings", label_run);
  operations_count("span_enter_leave", span_enter_run);
  operations_count("span_start_end", span_run);
  if (spanprof_label_push_ids(cost_name, cost_value, &label) != SPANPROF_OK ||
      spanprof_span_enter(cost_span, &token) != SPANPROF_OK ||
      sigaction(SIGRTMIN + 5, &action, NULL) != 0)
    die(spanprof_last_error());
  value_catch();
  stack_grow();
  signals_send("handler_nothing", SIGRTMIN + 5, NULL);
  frames_go(8, "handler_8_frames");
  frames_go(28, "handler_28_frames");
  frames_go(100, "handler_100_frames");
  spanprof_span_leave(token);
  spanprof_label_pop(label);
}

int main(void) {
  spanprof_span_info info = {.struct_size = sizeof info,
                             .flags = SPANPROF_SPAN_SAMPLED,
                             .name = "GET /orders",
                             .name_bytes = 11};
  spanprof_stats stats = {.struct_size = sizeof stats};
  spanprof_session *session;
  spanprof_options options;

  spanprof_options_init(&options, sizeof options);
  options.application_name = "cost";
  options.sample_rate_hz = 1;
  options.signal_number = cost_signal = SIGRTMIN + 4;
  if (spanprof_session_start(&options, &session) != SPANPROF_OK ||
      spanprof_text_intern("controller", 10, &cost_name) != SPANPROF_OK ||
      spanprof_text_intern("orders", 6, &cost_value) != SPANPROF_OK ||
      spanprof_span_start(NULL, &info, &cost_span) != SPANPROF_OK)
    die(spanprof_last_error());
  cases_run();
  spanprof_session_stop(session, 2000);
  spanprof_stats_get(&stats);
  if (stats.samples_taken < 3 * COST_SIGNALS || stats.samples_dropped_full > 0)
    die("not every signal was a sample");
  return 0;
}
