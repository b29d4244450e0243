/* Takes: profiles of a length of their own, beside the session's windows, or of
 * a session that is there for them alone. */
#include <unistd.h>

#include "../collect/collector_takes.h"
#include "../settings/environment.h"
#include "../util/status.h"
#include "options.h"
#include "session_inside.h"

#define TAKE_HOUR_MS 3600000

/* A collector that is busy with a window, which waits for names at most 2 s, or
 * gets no processor. It begins later then. */
#define TAKE_BEGIN_NS (5 * SP_NS_PER_S)

struct spanprof_take {
  sp_take *inside;
  const sp_clock *clock;
  uint64_t session; /* its number */
  pid_t pid;
};

/* With both locks held, and no session: nothing leaves this one, whatever the
 * environment says. */
static spanprof_status take_session_start(spanprof_session **out) {
  spanprof_options options;
  spanprof_status st = sp_settings_check_enabled(sp_environment_own());

  if (!st)
    st = spanprof_options_init(&options, sizeof options);
  if (st)
    return st;
  options.server_address = "";
  options.output_directory = "";
  options.spool_directory = "";
  options.upload_interval_ms = TAKE_HOUR_MS;
  options.flush_on_sigterm = 0;
  options.log_level = SPANPROF_LOG_ERROR;
  st = sp_session_make(out, &options);
  if (!st)
    (*out)->temporary = true;
  return st;
}

/* With both locks held: the last take of a session that is there for it ends
 * it.
 */
static void take_session_leave(spanprof_session *session) {
  if (session->temporary && session->takes == 0)
    sp_session_end(session, 0);
}

static spanprof_status take_enter(spanprof_take *take) {
  spanprof_session *session = sp_session_state.current;
  spanprof_status st = SPANPROF_OK;

  if (session && (session->stopping || !sp_session_here()))
    return sp_fail(SPANPROF_ERR_STATE, "the session is being stopped");
  if (!session)
    st = take_session_start(&session);
  if (st)
    return st;
  take->session = session->number;
  take->clock = session->pipeline.clock;
  take->pid = getpid();
  st = sp_collector_take(session->pipeline.collector, take->inside);
  if (!st)
    session->takes++;
  else
    take_session_leave(session);
  return st == SPANPROF_ERR_LIMIT
             ? sp_fail(st, "%d profiles are being taken already", SP_TAKES_MAX)
             : st;
}

spanprof_status spanprof_take_begin(uint32_t duration_ms, spanprof_take **out) {
  const sp_mem *mem = &sp_mem_default;
  spanprof_take *take;
  spanprof_status st;

  *out = NULL;
  if (duration_ms == 0 || duration_ms > SPANPROF_TAKE_MS_MAX)
    return sp_fail(SPANPROF_ERR_ARGUMENT,
                   "a profile is taken of 1 ms to %d s, not of %u ms",
                   SPANPROF_TAKE_MS_MAX / 1000, duration_ms);
  take = sp_mem_zero(mem, sizeof *take);
  if (!take || sp_take_new(&take->inside, mem, duration_ms * SP_NS_PER_MS)) {
    sp_mem_free(mem, take);
    return sp_fail(SPANPROF_ERR_NOMEM, "no memory to take a profile");
  }
  sp_session_fork_ready();
  sp_session_lock();
  st = take_enter(take);
  sp_session_unlock();
  if (st) {
    sp_take_release(take->inside);
    sp_mem_free(mem, take);
    return st;
  }
  sp_take_wait_begun(take->inside, take->clock,
                     sp_clock_monotonic_ns(take->clock) + TAKE_BEGIN_NS);
  *out = take;
  return SPANPROF_OK;
}

static void take_leave(const spanprof_take *take) {
  spanprof_session *session;

  sp_session_lock();
  session = sp_session_state.current;
  if (session && session->number == take->session && !session->stopping) {
    session->takes--;
    take_session_leave(session);
  }
  sp_session_unlock();
}

static void take_give(const sp_encoded *profile, spanprof_profile_fn receive,
                      void *data) {
  const spanprof_profile_view view = {.struct_size = sizeof view,
                                      .bytes = profile->bytes,
                                      .size_bytes = profile->size,
                                      .time_ns = profile->time_ns,
                                      .duration_ns = profile->duration_ns,
                                      .samples = profile->samples,
                                      .cpu_ns = profile->cpu_ns};

  receive(data, &view);
}

spanprof_status spanprof_take_end(spanprof_take *take, uint32_t timeout_ms,
                                  spanprof_profile_fn receive, void *data) {
  sp_encoded profile;
  spanprof_status st;

  if (!take || !receive)
    return sp_fail(SPANPROF_ERR_ARGUMENT, "there is no take, or nobody for it");
  /* Its own lock may be taken for ever: it is left as it is. */
  if (take->pid != getpid())
    return sp_fail(SPANPROF_ERR_STATE,
                   "the profile is the process's that forked this one");
  st = sp_take_wait(
      take->inside, take->clock,
      sp_clock_monotonic_ns(take->clock) + timeout_ms * SP_NS_PER_MS, &profile);
  sp_take_release(take->inside);
  take_leave(take);
  if (!st)
    take_give(&profile, receive, data);
  else
    sp_fail(st, "no profile was taken: %s", spanprof_status_text(st));
  sp_encoded_dispose(&profile);
  sp_mem_free(&sp_mem_default, take);
  return st;
}
