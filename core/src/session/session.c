#include "session.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collect/samples/runtime_names.h"
#include "options.h"
#include "pipeline.h"
#include "resource.h"
#include "sampler/handler/runtime.h"
#include "sampler/thread_table.h"
#include "session_state.h"
#include "settings/environment.h"
#include "sigterm.h"
#include "span/span.h"
#include "util/system/counters.h"
#include "util/system/fork_hooks.h"
#include "util/system/log.h"
#include "util/system/own_thread.h"
#include "util/system/status.h"

/* The session of a process, of which there is at most one. It connects the
 * parts of the library.
 *
 * Protocol: sp_session_state has two locks. `lock` guards the current session,
 * and is held only briefly. `changing` is held by a start or stop during its
 * whole work. Both begin and end with both locks, but release `lock` while they
 * work: they log, and wait for threads that log, and the log callback may wait
 * for threads that need `lock`. Flush, pause and resume count themselves as
 * running calls; a stop releases both locks while it waits for these calls. A
 * fork acquires the locks in this order: `changing` and `lock`, the resource's
 * lock, the collector's and the exporter's locks, those of the thread table and
 * of the runtime's names, and then, by their own hooks, those of spans, labels
 * and texts. */

#define SESSION_EXIT_MS 2000

/* Length of the windows after a SIGTERM that does not end the process. */
#define SESSION_LAST_WINDOWS_NS SP_NS_PER_S
#define SESSION_PAUSE_NS        (5 * SP_NS_PER_MS)

/* Interval at which a flush checks whether a stop waits for the flush. */
#define SESSION_FLUSH_SLICE_NS (50 * SP_NS_PER_MS)

sp_session_shared sp_session_state = {.changing = PTHREAD_MUTEX_INITIALIZER,
                                      .lock = PTHREAD_MUTEX_INITIALIZER,
                                      .calls_ended = PTHREAD_COND_INITIALIZER};

/* Process-wide, because each function runs once in a process. */
static pthread_once_t session_hooks_once = PTHREAD_ONCE_INIT;
static pthread_once_t session_atexit_once = PTHREAD_ONCE_INIT;
static pthread_once_t session_atexit_with_server_once = PTHREAD_ONCE_INIT;

void sp_session_lock(void) {
  pthread_mutex_lock(&sp_session_state.changing);
  pthread_mutex_lock(&sp_session_state.lock);
}

void sp_session_unlock(void) {
  pthread_mutex_unlock(&sp_session_state.lock);
  pthread_mutex_unlock(&sp_session_state.changing);
}

static void session_before_fork(void) {
  spanprof_session *session;

  sp_session_lock();
  sp_sigterm_before_fork();
  sp_resource_before_fork();
  session = sp_session_state.current;
  if (session) {
    sp_collector_before_fork(session->pipeline.collector);
    sp_exporter_before_fork(session->pipeline.exporter);
  }
  sp_threads_before_fork();
  sp_runtime_before_fork();
  sp_runtime_names_before_fork();
}

static void session_after_fork_parent(void) {
  spanprof_session *session = sp_session_state.current;

  sp_runtime_names_after_fork(false);
  sp_runtime_after_fork(false);
  sp_threads_after_fork_parent();
  if (session) {
    sp_exporter_after_fork_parent(session->pipeline.exporter);
    sp_collector_after_fork_parent(session->pipeline.collector);
  }
  sp_resource_after_fork(false);
  sp_sigterm_after_fork_parent();
  sp_session_unlock();
}

static void session_restart(spanprof_session *session) {
  sp_session_state.pid = getpid();
  session->running_calls = 0;
  session->recordings = 0;
  session->stopping = false;
  sp_log_after_fork(&session->pipeline.log);
  sp_counters_reset();
  sp_exporter_after_fork_child(session->pipeline.exporter);
  sp_collector_after_fork_child(session->pipeline.collector);
}

/* Called in a forked child whose parent has a temporary session. The recordings
 * and threads of this session exist only in the parent. The session's memory
 * may be half written, so the child does not touch it. */
static void session_abandon(spanprof_session *session) {
  sp_collector_abandon(session->pipeline.collector);
  sp_session_state.abandoned = session;
  sp_session_state.current = NULL;
}

static void session_after_fork_child(void) {
  sp_own_thread_after_fork();
  sp_runtime_names_after_fork(true);
  sp_runtime_after_fork(true);
  sp_resource_after_fork(true);
  pthread_mutex_init(&sp_session_state.changing, NULL);
  pthread_mutex_init(&sp_session_state.lock, NULL);
  pthread_cond_init(&sp_session_state.calls_ended, NULL);
  if (sp_session_state.current && sp_session_state.current->temporary)
    session_abandon(sp_session_state.current);
  else if (sp_session_state.current)
    session_restart(sp_session_state.current);
  else
    sp_threads_after_fork_child(false);
  sp_sigterm_after_fork_child();
}

static const sp_fork_hooks session_fork_hooks = {
    .before = session_before_fork,
    .parent = session_after_fork_parent,
    .child = session_after_fork_child,
};

/* The exit handler: ends the session. After this function, no thread of
 * spanprof runs or can start, because the exit handlers of other libraries free
 * what such a thread uses. */
static void session_at_exit(void) {
  spanprof_session *session;

  if (!sp_session_in_process() || sp_exit_begun())
    return;
  sp_exit_begin();
  sp_session_lock();
  session = sp_session_state.current;
  if (session && !session->stopping)
    sp_session_end(session, SESSION_EXIT_MS);
  sp_session_unlock();
  sp_own_threads_exit();
}

/* Called before the first start of a session, so that a fork on another thread
 * cannot interrupt a start. */
static void session_hooks_set(void) {
  sp_fork_hooks_set(SP_FORK_SESSION, &session_fork_hooks);
}

void sp_session_fork_ready(void) {
  pthread_once(&session_hooks_once, session_hooks_set);
}

/* Called after an exporter was created. Exit handlers run in the reverse order
 * of their registration. session_at_exit() must run before the exit handler of
 * the TLS library, which the first exporter with a server initializes. */
static void session_atexit(void) {
  atexit(session_at_exit);
}

static void session_register_exit(const spanprof_session *session) {
  pthread_once(session->pipeline.settings.server_address
                   ? &session_atexit_with_server_once
                   : &session_atexit_once,
               session_atexit);
}

static void session_free(spanprof_session *session) {
  const sp_mem *mem = session->pipeline.mem;

  sp_pipeline_dispose(&session->pipeline);
  sp_mem_free(mem, session);
}

/* Called on the collector thread when it finishes after a stop that did not
 * wait for it. */
static void session_stop_timed_out(void *data) {
  spanprof_session *session = data;
  bool kept;

  sp_session_lock();
  kept = session->kept;
  sp_session_unlock();
  if (!kept)
    session_free(session);
}

spanprof_status sp_session_create(spanprof_session **out,
                                  const spanprof_options *options) {
  spanprof_session *session = sp_mem_zero(&sp_mem_paged, sizeof *session);
  spanprof_status st;

  if (!session)
    return sp_fail(SPANPROF_ERR_NOMEM, "no memory to start a session");
  pthread_mutex_unlock(&sp_session_state.lock);
  st = sp_pipeline_start(&session->pipeline, &sp_mem_paged, options,
                         session_stop_timed_out, session);
  pthread_mutex_lock(&sp_session_state.lock);
  if (st) {
    sp_mem_free(&sp_mem_paged, session);
    return st;
  }
  sp_resource_attach(session->pipeline.exporter);
  session->number = ++sp_session_state.count;
  sp_session_state.current = session;
  sp_session_state.pid = getpid();
  session_register_exit(session);
  *out = session;
  return SPANPROF_OK;
}

bool sp_session_in_process(void) {
  return sp_session_state.pid == getpid();
}

/* Wait until no call of the session is running. Both locks are released during
 * the wait, because a call may wait for a thread that forks, and a fork needs
 * both locks. */
static void session_wait_calls(spanprof_session *session) {
  if (session->running_calls == 0)
    return;
  pthread_mutex_unlock(&sp_session_state.changing);
  while (session->running_calls > 0)
    pthread_cond_wait(&sp_session_state.calls_ended, &sp_session_state.lock);
  pthread_mutex_unlock(&sp_session_state.lock);
  sp_session_lock();
}

spanprof_status sp_session_end(spanprof_session *session, uint32_t timeout_ms) {
  const uint64_t until_ns = sp_clock_monotonic_ns(session->pipeline.clock) +
                            timeout_ms * SP_NS_PER_MS;
  spanprof_status st, collected;

  session->stopping = true;
  sp_collector_halt(session->pipeline.collector);
  session_wait_calls(session);
  sp_session_state.current = NULL;
  sp_resource_attach(NULL);
  pthread_mutex_unlock(&sp_session_state.lock);
  /* The last quarter of the time is left for the exporter. */
  collected = sp_collector_stop(session->pipeline.collector,
                                until_ns - timeout_ms * SP_NS_PER_MS / 4);
  st = sp_exporter_stop(session->pipeline.exporter, until_ns);
  sp_counters_drop_pending();
  sp_span_defaults_set(NULL);
  sp_sigterm_end();
  sp_log_line(&session->pipeline.log, SPANPROF_LOG_INFO, "profiling stopped");
  pthread_mutex_lock(&sp_session_state.lock);
  /* The uploading thread did not finish and may still read the settings. */
  session->kept = st == SPANPROF_ERR_STATE;
  if (session->kept)
    st =
        sp_fail(SPANPROF_ERR_TIMEOUT,
                "the uploading thread did not finish within %u ms", timeout_ms);
  if (collected)
    st = sp_fail(SPANPROF_ERR_TIMEOUT,
                 "the collector thread did not finish within %u ms: a callback "
                 "of the runtime does not return, or the disk does not respond",
                 timeout_ms);
  else if (!session->kept)
    session_free(session);
  atomic_store(&sp_session_state.running, false);
  return st;
}

/* Is a stop waiting for running calls? It has released `changing` and `lock`
 * for its wait. The caller holds `lock`. */
static bool session_stops(void) {
  return sp_session_state.current && sp_session_state.current->stopping;
}

static void session_unlock_briefly(void) {
  const struct timespec pause = {.tv_nsec = (long)SESSION_PAUSE_NS};

  sp_session_unlock();
  nanosleep(&pause, NULL);
}

/* Acquire `changing` and `lock` at a time when no stop is waiting for running
 * calls. Returns false, without the locks, if that is not possible by
 * `until_ns`. */
static bool session_lock_by(uint64_t until_ns) {
  uint64_t now_ns;

  for (;;) {
    now_ns = sp_monotonic_ns();
    if (now_ns >= until_ns ||
        !sp_fork_lock(&sp_session_state.changing, until_ns - now_ns))
      return false;
    pthread_mutex_lock(&sp_session_state.lock);
    if (!session_stops())
      return true;
    session_unlock_briefly();
  }
}

/* Does the same as session_lock_by(), without a time limit. */
static void session_lock(void) {
  sp_session_lock();
  while (session_stops()) {
    session_unlock_briefly();
    sp_session_lock();
  }
}

/* Called at a SIGTERM. Stops the session. In a process that the default action
 * does not end (PID 1), flushes the session instead, and shortens later
 * windows. Waits for a stop that is already running. */
static bool session_deliver(void) {
  const uint64_t until_ns = sp_monotonic_ns() + SESSION_EXIT_MS * SP_NS_PER_MS;
  const bool process_continues = getpid() == 1;
  spanprof_session *session;
  uint64_t now_ns;

  if (!sp_session_in_process() || !session_lock_by(until_ns))
    return !process_continues;
  session = sp_session_state.current;
  now_ns = sp_min_u64(sp_monotonic_ns(), until_ns);
  if (session && process_continues) {
    sp_collector_shorten_windows(session->pipeline.collector,
                                 SESSION_LAST_WINDOWS_NS);
    sp_exporter_end_name_wait(session->pipeline.exporter);
  } else if (session)
    sp_session_end(session, (uint32_t)((until_ns - now_ns) / SP_NS_PER_MS));
  sp_session_unlock();
  if (process_continues)
    spanprof_session_flush(session, SESSION_EXIT_MS);
  return !process_continues;
}

spanprof_status spanprof_session_start(const spanprof_options *options,
                                       spanprof_session **out) {
  spanprof_status st;

  *out = NULL;
  st = sp_settings_check_enabled(sp_environment_own());
  if (st)
    return st;
  sp_session_fork_ready();
  session_lock();
  /* The new session replaces a temporary session. */
  if (sp_session_state.current && sp_session_state.current->temporary)
    sp_session_end(sp_session_state.current, 0);
  if (sp_session_state.current)
    st = sp_fail(
        SPANPROF_ERR_STATE,
        "a session is already running; stop it before starting another");
  else
    st = sp_session_create(out, options);
  if (!st && (*out)->pipeline.settings.flush_on_sigterm)
    sp_sigterm_begin(session_deliver);
  if (!st)
    atomic_store(&sp_session_state.running, true);
  sp_session_unlock();
  if (!st)
    spanprof_thread_register();
  return st;
}

spanprof_session *spanprof_session_current(void) {
  spanprof_session *session;

  if (!sp_session_in_process())
    return NULL;
  sp_session_lock();
  session = sp_session_state.current;
  if (session && session->temporary)
    session = NULL;
  sp_session_unlock();
  return session;
}

int spanprof_session_running(void) {
  return sp_session_in_process() && atomic_load(&sp_session_state.running);
}

spanprof_status sp_session_not_running(void) {
  return sp_fail(SPANPROF_ERR_STATE, "the session is not running");
}

bool sp_session_enter(spanprof_session *session) {
  bool in;

  if (!sp_session_in_process())
    return false;
  pthread_mutex_lock(&sp_session_state.lock);
  in = session && session == sp_session_state.current && !session->stopping;
  if (in)
    session->running_calls++;
  pthread_mutex_unlock(&sp_session_state.lock);
  return in;
}

void sp_session_exit(spanprof_session *session) {
  pthread_mutex_lock(&sp_session_state.lock);
  if (--session->running_calls == 0)
    pthread_cond_broadcast(&sp_session_state.calls_ended);
  pthread_mutex_unlock(&sp_session_state.lock);
}

spanprof_status spanprof_session_stop(spanprof_session *session,
                                      uint32_t timeout_ms) {
  spanprof_status st;

  /* Fail if another thread is already stopping the session. */
  if (!sp_session_enter(session))
    return sp_session_not_running();
  sp_session_exit(session);
  sp_session_lock();
  if (session != sp_session_state.current || session->stopping)
    st = sp_session_not_running();
  else
    st = sp_session_end(session, timeout_ms);
  sp_session_unlock();
  return st;
}

/* Is a stop waiting for this flush? */
static bool flush_stopped(const spanprof_session *session) {
  bool stopping;

  pthread_mutex_lock(&sp_session_state.lock);
  stopping = session->stopping;
  pthread_mutex_unlock(&sp_session_state.lock);
  return stopping;
}

typedef spanprof_status (*flush_step)(sp_exporter *exporter, uint64_t until_ns);

static spanprof_status flush_run(spanprof_session *session, uint32_t timeout_ms,
                                 flush_step step) {
  uint64_t until_ns, now_ns;
  spanprof_status st;

  if (!sp_session_enter(session))
    return sp_session_not_running();
  until_ns = sp_clock_monotonic_ns(session->pipeline.clock) +
             timeout_ms * SP_NS_PER_MS;
  st = sp_collector_flush(session->pipeline.collector, until_ns);
  if (!st && step == sp_exporter_flush_once)
    sp_exporter_retry_now(session->pipeline.exporter);
  if (!st) {
    do {
      now_ns = sp_clock_monotonic_ns(session->pipeline.clock);
      st = step(session->pipeline.exporter,
                sp_min_u64(until_ns, now_ns + SESSION_FLUSH_SLICE_NS));
    } while (st == SPANPROF_ERR_TIMEOUT && now_ns < until_ns &&
             !flush_stopped(session));
  }
  if (st == SPANPROF_ERR_TIMEOUT && step == sp_exporter_flush_once)
    sp_exporter_mark_unanswered(session->pipeline.exporter);
  sp_session_exit(session);
  return st;
}

spanprof_status spanprof_session_flush(spanprof_session *session,
                                       uint32_t timeout_ms) {
  return flush_run(session, timeout_ms, sp_exporter_flush);
}

spanprof_status sp_session_flush_once(spanprof_session *session,
                                      uint32_t timeout_ms) {
  return flush_run(session, timeout_ms, sp_exporter_flush_once);
}

/* Pause the session, or resume it if `on`. This counts as a running call, so
 * that a stop does not free the session before the function returns. The
 * function holds no lock while it works, because the log callback may wait for
 * a thread that forks. */
static spanprof_status session_sample(spanprof_session *session, bool on) {
  if (!sp_session_enter(session))
    return sp_session_not_running();
  if (on)
    sp_threads_resume();
  else
    sp_collector_pause(session->pipeline.collector);
  sp_log_line(&session->pipeline.log, SPANPROF_LOG_INFO,
              on ? "profiling is resumed" : "profiling is paused");
  sp_session_exit(session);
  return SPANPROF_OK;
}

spanprof_status spanprof_session_pause(spanprof_session *session) {
  return session_sample(session, false);
}

spanprof_status spanprof_session_resume(spanprof_session *session) {
  return session_sample(session, true);
}
