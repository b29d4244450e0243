#include "scraper.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "scrape_store.h"
#include "scraper_inside.h"
#include "util/system/own_thread.h"
#include "util/system/status.h"
#include "util/text/utf8.h"

#define SCRAPER_SLEEP_MAX_NS SP_NS_PER_S
#define SCRAPER_LOG_NS       (60 * SP_NS_PER_S)

/* The first scrapes are spread over time, so that a thousand targets are not
 * requested and their answers not processed at the same time. */
#define SCRAPER_SPREAD_NS    (20 * SP_NS_PER_MS)
#define SCRAPER_SPREAD_COUNT 100

/* Longest wait for the scraper thread to exit. libcurl before 7.87 cannot
 * interrupt a name lookup. If one takes longer, the process exits while the
 * thread is still running. */
#define SCRAPER_STOP_NS (800 * SP_NS_PER_MS)

static uint64_t scraper_now(const sp_scraper *scraper) {
  return sp_clock_monotonic_ns(scraper->serve->clock);
}

/* Log a failed scrape. At most one line is logged for a target in a minute. */
static void scraper_log(sp_scraper *scraper, const sp_scrape_probe *probe,
                        const char *error) {
  sp_scrape_logged *logged = &scraper->logged[probe->target];
  const uint64_t now_ns = scraper_now(scraper);

  if (logged->at_ns && now_ns - logged->at_ns < SCRAPER_LOG_NS) {
    logged->suppressed++;
    return;
  }
  if (logged->suppressed)
    sp_log_line(scraper->serve->log, SPANPROF_LOG_WARN,
                "scraping %s of %s (job %s) failed: %s; %llu more failures of "
                "this target since the last log line",
                probe->kind.name, probe->instance, probe->job, error,
                (unsigned long long)logged->suppressed);
  else
    sp_log_line(scraper->serve->log, SPANPROF_LOG_WARN,
                "scraping %s of %s (job %s) failed: %s", probe->kind.name,
                probe->instance, probe->job, error);
  *logged = (sp_scrape_logged){.at_ns = now_ns ? now_ns : 1};
}

static void scraper_report(sp_scraper *scraper, sp_scrape_run *run,
                           sp_scrape_state state, const char *error) {
  sp_scrape_report *report = &run->report;
  char shown[SP_SCRAPE_ERROR_SIZE];
  size_t size;

  pthread_mutex_lock(&scraper->lock);
  report->state = state;
  report->scrapes++;
  report->failures += state == SP_SCRAPE_DOWN;
  report->bytes += run->transfer.body.size;
  report->took_ns = scraper_now(scraper) - run->begun_ns;
  /* The error may contain text that the target sent, so control characters are
   * removed. */
  size = sp_utf8_printable(error, strlen(error), report->error,
                           sizeof report->error - 1);
  report->error[size] = '\0';
  memcpy(shown, report->error, sizeof shown);
  pthread_mutex_unlock(&scraper->lock);
  if (state == SP_SCRAPE_DOWN)
    scraper_log(scraper, run->probe, shown);
}

/* Store the profile in the answer. If that fails, sets `error`. */
static sp_scrape_state scraper_store(sp_scraper *scraper, sp_scrape_run *run,
                                     char error[SP_SCRAPE_ERROR_SIZE]) {
  const sp_view answer =
      sp_view_of(run->transfer.body.data, run->transfer.body.size);
  sp_refusal refusal;
  spanprof_status st;

  sp_refusal_init(&refusal, scraper->serve->mem);
  st = sp_scrape_store(scraper->serve, run->probe, &run->delta, answer,
                       scraper_now(scraper), &refusal);
  if (refusal.kind == SP_REFUSAL_STORE)
    snprintf(error, SP_SCRAPE_ERROR_SIZE, "the profile could not be stored: %s",
             sp_refusal_text(&refusal));
  else if (st)
    snprintf(error, SP_SCRAPE_ERROR_SIZE, "the answer was refused: %s",
             refusal.kind == SP_REFUSAL_NONE ? spanprof_status_text(st)
                                             : sp_refusal_text(&refusal));
  sp_refusal_dispose(&refusal);
  return st ? SP_SCRAPE_DOWN : SP_SCRAPE_UP;
}

static void scraper_finish(sp_scraper *scraper, CURL *easy, CURLcode code) {
  char error[SP_SCRAPE_ERROR_SIZE] = "";
  sp_scrape_state state = SP_SCRAPE_DOWN;
  sp_scrape_run *run = NULL;
  bool absent;

  curl_easy_getinfo(easy, CURLINFO_PRIVATE, (char **)&run);
  if (!sp_scrape_transfer_result(&run->transfer, code, &absent, error))
    state = scraper_store(scraper, run, error);
  else if (absent && run->probe->optional)
    state = SP_SCRAPE_ABSENT;
  scraper_report(scraper, run, state, error);
  sp_scrape_transfer_end(&run->transfer, scraper->multi);
}

static void scraper_begin(sp_scraper *scraper, sp_scrape_run *run,
                          uint64_t now_ns) {
  run->begun_ns = now_ns;
  /* If the last scrape took longer than the interval, skip those that should
   * have begun during it. */
  while (run->due_ns <= now_ns)
    run->due_ns += run->probe->interval_ns;
  if (sp_scrape_transfer_begin(&run->transfer, run->probe, scraper->multi, run))
    scraper_report(scraper, run, SP_SCRAPE_DOWN, spanprof_last_error());
}

/* Start the requests that are due. Returns the nanoseconds until the next one
 * is due, at most SCRAPER_SLEEP_MAX_NS. */
static uint64_t scraper_begin_due(sp_scraper *scraper) {
  const uint64_t now_ns = scraper_now(scraper);
  uint64_t next_ns = now_ns + SCRAPER_SLEEP_MAX_NS;
  size_t i;

  for (i = 0; i < scraper->plan->count; i++) {
    sp_scrape_run *run = &scraper->runs[i];

    if (run->transfer.easy)
      continue;
    if (run->due_ns <= now_ns)
      scraper_begin(scraper, run, now_ns);
    else
      next_ns = sp_min_u64(next_ns, run->due_ns);
  }
  return next_ns - now_ns;
}

static void *scraper_run(void *data) {
  sp_scraper *scraper = data;
  CURLMsg *message;
  uint64_t sleep_ns;
  int running, left;
  size_t i;

  while (!atomic_load(&scraper->stopping)) {
    sleep_ns = scraper_begin_due(scraper);
    curl_multi_perform(scraper->multi, &running);
    while (!atomic_load(&scraper->stopping) &&
           (message = curl_multi_info_read(scraper->multi, &left)))
      if (message->msg == CURLMSG_DONE)
        scraper_finish(scraper, message->easy_handle, message->data.result);
    if (!atomic_load(&scraper->stopping))
      curl_multi_poll(scraper->multi, NULL, 0,
                      (int)(sleep_ns / SP_NS_PER_MS) + 1, NULL);
  }
  for (i = 0; i < scraper->plan->count; i++)
    sp_scrape_transfer_end(&scraper->runs[i].transfer, scraper->multi);
  return NULL;
}

static void scraper_free(sp_scraper *scraper) {
  const sp_mem *mem = scraper->serve->mem;
  size_t i;

  for (i = 0; scraper->runs && i < scraper->plan->count; i++)
    sp_scrape_delta_dispose(&scraper->runs[i].delta);
  curl_multi_cleanup(scraper->multi);
  pthread_mutex_destroy(&scraper->lock);
  sp_mem_free(mem, scraper->runs);
  sp_mem_free(mem, scraper->logged);
  sp_mem_free(mem, scraper);
}

static spanprof_status scraper_prepare(sp_scraper *scraper) {
  const sp_mem *mem = scraper->serve->mem;
  const sp_scrape_plan *plan = scraper->plan;
  const uint64_t now_ns = scraper_now(scraper);
  size_t i;

  scraper->runs = sp_mem_zero(mem, plan->count * sizeof *scraper->runs);
  scraper->logged =
      sp_mem_zero(mem, (plan->target_count + 1) * sizeof *scraper->logged);
  if (!scraper->runs || !scraper->logged)
    return sp_fail(SPANPROF_ERR_NOMEM, "no memory to scrape");
  for (i = 0; i < plan->count; i++) {
    sp_scrape_run *run = &scraper->runs[i];

    run->probe = &plan->probes[i];
    run->due_ns = now_ns + i % SCRAPER_SPREAD_COUNT * SCRAPER_SPREAD_NS;
    sp_scrape_transfer_init(&run->transfer, mem);
    sp_scrape_delta_init(&run->delta, mem);
  }
  if (!curl_global_init(CURL_GLOBAL_DEFAULT))
    scraper->multi = curl_multi_init();
  return scraper->multi
             ? SPANPROF_OK
             : sp_fail(SPANPROF_ERR_SYSTEM, "libcurl cannot be used to scrape");
}

spanprof_status sp_scraper_start(sp_scraper **out, sp_serve *serve,
                                 const sp_scrape_plan *plan) {
  sp_scraper *scraper = sp_mem_zero(serve->mem, sizeof *scraper);
  spanprof_status st;
  int error;

  *out = NULL;
  if (!scraper)
    return sp_fail(SPANPROF_ERR_NOMEM, "no memory to scrape");
  scraper->serve = serve;
  scraper->plan = plan;
  pthread_mutex_init(&scraper->lock, NULL);
  st = scraper_prepare(scraper);
  if (!st) {
    error = sp_own_thread_start(&scraper->thread, "scraper", SP_OWN_STACK_SMALL,
                                scraper_run, scraper);
    if (error)
      st = sp_fail_errno(SPANPROF_ERR_SYSTEM, error,
                         "the scraper thread could not be started");
  }
  if (st)
    scraper_free(scraper);
  else
    *out = scraper;
  return st;
}

void sp_scraper_halt(sp_scraper *scraper) {
  if (!scraper)
    return;
  atomic_store(&scraper->stopping, true);
  curl_multi_wakeup(scraper->multi);
}

bool sp_scraper_stop(sp_scraper *scraper) {
  struct timespec until;

  if (!scraper)
    return true;
  sp_scraper_halt(scraper);
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += SCRAPER_STOP_NS / SP_NS_PER_S;
  until.tv_nsec += SCRAPER_STOP_NS % SP_NS_PER_S;
  if (until.tv_nsec >= (long)SP_NS_PER_S) {
    until.tv_nsec -= (long)SP_NS_PER_S;
    until.tv_sec++;
  }
  if (pthread_timedjoin_np(scraper->thread, NULL, &until)) {
    pthread_detach(scraper->thread); /* the thread exits with the process */
    return false;
  }
  scraper_free(scraper);
  return true;
}
