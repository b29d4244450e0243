#include "session.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../collect/runtime_names.h"
#include "../sampler/runtime.h"
#include "../sampler/thread_table.h"
#include "../settings/environment.h"
#include "../span/span.h"
#include "../util/counters.h"
#include "../util/fork_hooks.h"
#include "../util/log.h"
#include "../util/own_thread.h"
#include "../util/status.h"
#include "options.h"
#include "pipeline.h"
#include "resource.h"
#include "sigterm.h"

/* The one session of a process: wires the rooms, and is the only place that
 * sees them all.
 *
 * Protocol: `lock` guards which session runs. Start and stop hold it from end
 * to end; a flush only counts itself in and out, and a stop waits for those
 * that are in. A fork takes, in this order, lock, the resource's lock, the
 * collector's pause, the exporter's queue, the thread table, the runtime's
 * names, and (by their own hooks, after these) spans, then labels and texts. */

#define SESSION_EXIT_MS        2000
#define SESSION_FLUSH_SLICE_NS (50 * SP_NS_PER_MS)

/* From a SIGTERM on that does not end the process. */
#define SESSION_LAST_WINDOWS_NS SP_NS_PER_S
#define SESSION_PAUSE_NS        (5 * SP_NS_PER_MS)

struct spanprof_session {
  sp_pipeline pipeline;
  /* Guarded by session_state.lock. */
  bool kept; /* something that was left behind may use it: never freed */
  unsigned flushing;
  bool stopping;
};

/* Process-wide: there is one session, and fork and exit find it here. */
static struct {
  pthread_mutex_t lock;
  pthread_cond_t flushed;
  pthread_once_t hooked;
  pthread_once_t exit_seen;
  spanprof_session *current;
  _Atomic pid_t pid; /* of the process whose session that is */
} session_state = {.lock = PTHREAD_MUTEX_INITIALIZER,
                   .flushed = PTHREAD_COND_INITIALIZER,
                   .hooked = PTHREAD_ONCE_INIT,
                   .exit_seen = PTHREAD_ONCE_INIT};

static void session_before_fork(void) {
  spanprof_session *session;

  pthread_mutex_lock(&session_state.lock);
  sp_sigterm_before_fork();
  sp_resource_before_fork();
  session = session_state.current;
  if (session) {
    sp_collector_before_fork(session->pipeline.collector);
    sp_exporter_before_fork(session->pipeline.exporter);
  }
  sp_threads_before_fork();
  sp_runtime_before_fork();
  sp_runtime_names_before_fork();
}

static void session_after_fork_parent(void) {
  spanprof_session *session = session_state.current;

  sp_runtime_names_after_fork(false);
  sp_runtime_after_fork(false);
  sp_threads_after_fork_parent();
  if (session) {
    sp_exporter_after_fork_parent(session->pipeline.exporter);
    sp_collector_after_fork_parent(session->pipeline.collector);
  }
  sp_resource_after_fork(false);
  sp_sigterm_after_fork_parent();
  pthread_mutex_unlock(&session_state.lock);
}

static void session_renew(spanprof_session *session) {
  session_state.pid = getpid();
  session->flushing = 0;
  session->stopping = false;
  sp_log_after_fork(&session->pipeline.log);
  sp_counters_reset();
  sp_exporter_after_fork_child(session->pipeline.exporter);
  sp_collector_after_fork_child(session->pipeline.collector);
}

static void session_after_fork_child(void) {
  sp_own_thread_after_fork();
  sp_runtime_names_after_fork(true);
  sp_runtime_after_fork(true);
  sp_resource_after_fork(true);
  pthread_mutex_init(&session_state.lock, NULL);
  pthread_cond_init(&session_state.flushed, NULL);
  if (session_state.current)
    session_renew(session_state.current);
  else
    sp_threads_after_fork_child(false);
  sp_sigterm_after_fork_child();
}

static const sp_fork_hooks session_fork_hooks = {
    .before = session_before_fork,
    .parent = session_after_fork_parent,
    .child = session_after_fork_child,
};

static void session_at_exit(void) {
  spanprof_session_stop(spanprof_session_current(), SESSION_EXIT_MS);
}

/* Before the first start takes the lock: it holds it for long, and a child that
 * another thread forks meanwhile must not find it taken. */
static void session_hook(void) {
  sp_fork_hooks_set(SP_FORK_SESSION, &session_fork_hooks);
}

void sp_session_fork_ready(void) {
  pthread_once(&session_state.hooked, session_hook);
}

/* After the first exporter was made: exit handlers run last in, first out, and
 * ours must run before that of the TLS library, which libcurl has set up by
 * then. */
static void session_see_exit(void) {
  atexit(session_at_exit);
}

static void session_free(spanprof_session *session) {
  const sp_mem *mem = session->pipeline.mem;

  sp_pipeline_dispose(&session->pipeline);
  sp_mem_free(mem, session);
}

/* On the collector's thread, which a stop did not wait for. */
static void session_left(void *data) {
  spanprof_session *session = data;
  bool kept;

  pthread_mutex_lock(&session_state.lock);
  kept = session->kept;
  pthread_mutex_unlock(&session_state.lock);
  if (!kept)
    session_free(session);
}

static spanprof_status session_make(spanprof_session **out,
                                    const spanprof_options *options) {
  spanprof_session *session = sp_mem_zero(&sp_mem_default, sizeof *session);
  spanprof_status st;

  if (!session)
    return sp_fail(SPANPROF_ERR_NOMEM, "no memory to start a session");
  st = sp_pipeline_start(&session->pipeline, &sp_mem_default, options,
                         session_left, session);
  if (st) {
    sp_mem_free(&sp_mem_default, session);
    return st;
  }
  sp_resource_attach(session->pipeline.exporter);
  *out = session;
  return SPANPROF_OK;
}

/* Is this the process that started it, or a child whose fork hooks ran? In one
 * that was made by the system call itself there are no threads, and locks may
 * be taken for ever. */
static bool session_here(void) {
  return session_state.pid == getpid();
}

/* With the lock held, by the running session's only stop. */
static spanprof_status session_end(spanprof_session *session,
                                   uint32_t timeout_ms) {
  const uint64_t until_ns = sp_clock_monotonic_ns(session->pipeline.clock) +
                            timeout_ms * SP_NS_PER_MS;
  spanprof_status st, collected;

  session->stopping = true;
  sp_collector_halt(session->pipeline.collector);
  while (session->flushing > 0)
    pthread_cond_wait(&session_state.flushed, &session_state.lock);
  session_state.current = NULL;
  sp_resource_attach(NULL);
  collected = sp_collector_stop(session->pipeline.collector,
                                until_ns - timeout_ms * SP_NS_PER_MS / 4);
  st = sp_exporter_stop(session->pipeline.exporter, until_ns);
  sp_counters_settle();
  sp_span_defaults_set(NULL);
  sp_sigterm_end();
  sp_log_line(&session->pipeline.log, SPANPROF_LOG_INFO, "profiling stopped");
  /* A thread that is stuck may still look at the settings. */
  session->kept = st == SPANPROF_ERR_STATE;
  if (session->kept)
    st = sp_fail(SPANPROF_ERR_TIMEOUT,
                 "the uploading thread did not end within %u ms", timeout_ms);
  if (collected)
    st = sp_fail(SPANPROF_ERR_TIMEOUT,
                 "the collector did not end within %u ms: a callback of the "
                 "runtime, or the disk, does not come back",
                 timeout_ms);
  else if (!session->kept)
    session_free(session);
  return st;
}

/* Take the lock while no stop waits for flushes, by `until_ns`. */
static bool session_lock(uint64_t until_ns) {
  const struct timespec pause = {.tv_nsec = (long)SESSION_PAUSE_NS};
  uint64_t now_ns;

  for (;;) {
    now_ns = sp_monotonic_ns();
    if (now_ns >= until_ns ||
        !sp_fork_lock(&session_state.lock, until_ns - now_ns))
      return false;
    if (!session_state.current || !session_state.current->stopping)
      return true;
    pthread_mutex_unlock(&session_state.lock);
    nanosleep(&pause, NULL);
  }
}

/* At a SIGTERM: stop, or, where its default action does not end the process,
 * flush, and from then on often. Whoever stops already is waited for. */
static bool session_hand_on(void) {
  const uint64_t until_ns = sp_monotonic_ns() + SESSION_EXIT_MS * SP_NS_PER_MS;
  const bool stays = getpid() == 1;
  spanprof_session *session;
  uint64_t now_ns;

  if (!session_here() || !session_lock(until_ns))
    return !stays;
  session = session_state.current;
  now_ns = sp_min_u64(sp_monotonic_ns(), until_ns);
  if (session && stays) {
    sp_collector_hurry(session->pipeline.collector, SESSION_LAST_WINDOWS_NS);
    sp_exporter_hurry(session->pipeline.exporter);
  } else if (session)
    session_end(session, (uint32_t)((until_ns - now_ns) / SP_NS_PER_MS));
  pthread_mutex_unlock(&session_state.lock);
  if (stays)
    spanprof_session_flush(session, SESSION_EXIT_MS);
  return !stays;
}

spanprof_status spanprof_session_start(const spanprof_options *options,
                                       spanprof_session **out) {
  spanprof_status st;

  *out = NULL;
  st = sp_settings_check_enabled(sp_environment_own());
  if (st)
    return st;
  sp_session_fork_ready();
  pthread_mutex_lock(&session_state.lock);
  if (session_state.current)
    st = sp_fail(SPANPROF_ERR_STATE,
                 "a session runs already; stop it before starting another");
  else
    st = session_make(out, options);
  if (!st) {
    session_state.current = *out;
    session_state.pid = getpid();
    pthread_once(&session_state.exit_seen, session_see_exit);
    if ((*out)->pipeline.settings.flush_on_sigterm)
      sp_sigterm_begin(session_hand_on);
  }
  pthread_mutex_unlock(&session_state.lock);
  if (!st)
    spanprof_thread_register();
  return st;
}

spanprof_session *spanprof_session_current(void) {
  spanprof_session *session;

  if (!session_here())
    return NULL;
  pthread_mutex_lock(&session_state.lock);
  session = session_state.current;
  pthread_mutex_unlock(&session_state.lock);
  return session;
}

/* Count a flush in, if `session` is the one that runs. */
static bool flush_enter(spanprof_session *session) {
  bool in;

  if (!session_here())
    return false;
  pthread_mutex_lock(&session_state.lock);
  in = session && session == session_state.current && !session->stopping;
  if (in)
    session->flushing++;
  pthread_mutex_unlock(&session_state.lock);
  return in;
}

/* Count it out; or only ask whether a stop waits for it. */
static bool flush_stopped(spanprof_session *session, bool leave) {
  bool stopping;

  pthread_mutex_lock(&session_state.lock);
  stopping = session->stopping;
  if (leave && --session->flushing == 0)
    pthread_cond_broadcast(&session_state.flushed);
  pthread_mutex_unlock(&session_state.lock);
  return stopping;
}

static spanprof_status not_running(void) {
  return sp_fail(SPANPROF_ERR_STATE, "that session does not run");
}

spanprof_status spanprof_session_flush(spanprof_session *session,
                                       uint32_t timeout_ms) {
  uint64_t until_ns, now_ns;
  spanprof_status st;

  if (!flush_enter(session))
    return not_running();
  until_ns = sp_clock_monotonic_ns(session->pipeline.clock) +
             timeout_ms * SP_NS_PER_MS;
  st = sp_collector_flush(session->pipeline.collector, until_ns);
  if (!st) {
    do {
      now_ns = sp_clock_monotonic_ns(session->pipeline.clock);
      st = sp_exporter_flush(
          session->pipeline.exporter,
          sp_min_u64(until_ns, now_ns + SESSION_FLUSH_SLICE_NS));
    } while (st == SPANPROF_ERR_TIMEOUT && now_ns < until_ns &&
             !flush_stopped(session, false));
  }
  flush_stopped(session, true);
  return st;
}

spanprof_status spanprof_session_stop(spanprof_session *session,
                                      uint32_t timeout_ms) {
  spanprof_status st;

  if (!session || !session_here())
    return not_running();
  pthread_mutex_lock(&session_state.lock);
  if (session != session_state.current || session->stopping)
    st = not_running();
  else
    st = session_end(session, timeout_ms);
  pthread_mutex_unlock(&session_state.lock);
  return st;
}
