#include "session_inside.h"

#define SESSION_FLUSH_SLICE_NS (50 * SP_NS_PER_MS)

/* Count a flush in, if `session` is the one that runs. */
static bool flush_enter(spanprof_session *session) {
  bool in;

  if (!sp_session_here())
    return false;
  pthread_mutex_lock(&sp_session_state.lock);
  in = session && session == sp_session_state.current && !session->stopping;
  if (in)
    session->flushing++;
  pthread_mutex_unlock(&sp_session_state.lock);
  return in;
}

/* Count it out; or only ask whether a stop waits for it. */
static bool flush_stopped(spanprof_session *session, bool leave) {
  bool stopping;

  pthread_mutex_lock(&sp_session_state.lock);
  stopping = session->stopping;
  if (leave && --session->flushing == 0)
    pthread_cond_broadcast(&sp_session_state.flushed);
  pthread_mutex_unlock(&sp_session_state.lock);
  return stopping;
}

spanprof_status spanprof_session_flush(spanprof_session *session,
                                       uint32_t timeout_ms) {
  uint64_t until_ns, now_ns;
  spanprof_status st;

  if (!flush_enter(session))
    return sp_session_not_running();
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
