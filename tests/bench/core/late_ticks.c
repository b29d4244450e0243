/* Measures the CPU time between two ticks of a thread's CPU timer if there are
 * more runnable threads than processors. Threads that read their CPU time all
 * the time, and threads that rarely do, are measured alternately. Each thread
 * has its own timer, and only the timer's handler writes the thread's record.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bench.h"
#include "burn.h"

#define PERIOD_NS (10 * BENCH_NS_PER_MS)
#define LATE_NS   (3 * PERIOD_NS)

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

typedef struct record {
  uint64_t last_ns, longest_ns;
  unsigned ticks, late;
} record;

static __thread record *tick_record;
static uint64_t burn_ns;

static void tick(int number) {
  record *of = tick_record;
  const uint64_t now_ns = bench_cpu_ns(), gap_ns = now_ns - of->last_ns;

  (void)number;
  of->last_ns = now_ns;
  of->ticks++;
  of->late += gap_ns > LATE_NS;
  if (gap_ns > of->longest_ns)
    of->longest_ns = gap_ns;
}

static void read_always(uint64_t ns) {
  const uint64_t until_ns = bench_cpu_ns() + ns;

  while (bench_cpu_ns() < until_ns)
    ;
}

typedef struct way {
  const char *what;
  void (*burn)(uint64_t ns);
  record sum;
} way;

typedef struct burner {
  pthread_t thread;
  const way *way;
  record record;
} burner;

static void *burn(void *data) {
  burner *self = data;
  struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID,
                           .sigev_signo = SIGRTMIN};
  const struct itimerspec every = {.it_interval.tv_nsec = PERIOD_NS,
                                   .it_value.tv_nsec = PERIOD_NS};
  timer_t timer;

  tick_record = &self->record;
  event.sigev_notify_thread_id = (pid_t)syscall(SYS_gettid);
  self->record.last_ns = bench_cpu_ns();
  if (timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer) != 0 ||
      timer_settime(timer, 0, &every, NULL) != 0)
    bench_die("no timer on the thread's CPU clock");
  self->way->burn(burn_ns);
  timer_delete(timer);
  return NULL;
}

static void round_run(way *way, size_t threads) {
  burner burners[64];
  size_t i;

  for (i = 0; i < threads; i++) {
    burners[i] = (burner){.way = way};
    if (pthread_create(&burners[i].thread, NULL, burn, &burners[i]) != 0)
      bench_die("no thread");
  }
  for (i = 0; i < threads; i++) {
    const record *of = &burners[i].record;

    pthread_join(burners[i].thread, NULL);
    way->sum.ticks += of->ticks;
    way->sum.late += of->late;
    if (of->longest_ns > way->sum.longest_ns)
      way->sum.longest_ns = of->longest_ns;
  }
}

int main(void) {
  const struct sigaction action = {.sa_handler = tick, .sa_flags = SA_RESTART};
  const long cores = sysconf(_SC_NPROCESSORS_ONLN);
  const size_t threads = cores < 1 ? 2 : cores > 32 ? 64 : 2 * (size_t)cores;
  const size_t rounds = bench_quick() ? 1 : 5;
  way ways[] = {{.what = "reads its clock always", .burn = read_always},
                {.what = "reads its clock rarely", .burn = burn_cpu_ns}};
  char measured[96], comparison[96];
  size_t i;

  burn_ns = bench_quick() ? 300 * BENCH_NS_PER_MS : 2 * BENCH_NS_PER_S;
  sigaction(SIGRTMIN, &action, NULL);
  for (i = 0; i < 2 * rounds; i++)
    round_run(&ways[i % 2], threads);
  for (i = 0; i < 2; i++)
    snprintf(i ? measured : comparison, sizeof measured,
             "%s: %.0f ms, %u of %u ticks late", ways[i].what,
             (double)ways[i].sum.longest_ns / 1e6, ways[i].sum.late,
             ways[i].sum.ticks);
  bench_bar("longest CPU time between ticks, two threads a processor", measured,
            "<= 30 ms", comparison, ways[1].sum.longest_ns <= LATE_NS);
  return 0;
}
