#include "session_flush.h"

#include "session_inside.h"

#define SESSION_FLUSH_SLICE_NS (50 * SP_NS_PER_MS)

/* Does a stop wait? */
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
    sp_exporter_unanswered(session->pipeline.exporter);
  sp_session_leave(session);
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
