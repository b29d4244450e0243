/* The public functions of recordings. If no session runs, they run a temporary
 * session, which exists only for recordings. */
#include <sys/syscall.h>
#include <unistd.h>

#include "collect/collector_recordings.h"
#include "options.h"
#include "session_state.h"
#include "settings/environment.h"
#include "span/span.h"
#include "util/memory/struct_copy.h"
#include "util/system/status.h"

#define RECORDING_HOUR_MS 3600000

/* Time limits of spanprof_recording_begin() and spanprof_recording_end(). The
 * former waits if the collector is busy with the end of a window (which takes
 * up to 2 s if names are missing) or gets no CPU time. If its limit is reached,
 * it returns, and the recording begins later. */
#define RECORDING_BEGIN_NS (5 * SP_NS_PER_S)
#define RECORDING_END_NS   (10 * SP_NS_PER_S)

#define RECORDING_RATE_HZ_MAX 1000

struct spanprof_recording {
  sp_recording *internal;
  const sp_clock *clock;
  uint64_t session; /* number of the session */
  pid_t pid;
};

typedef struct recording_profile {
  spanprof_profile view;
  sp_encoded encoded;
  char note[SP_RECORDING_NOTE_BYTES];
} recording_profile;

spanprof_status
spanprof_recording_options_init(spanprof_recording_options *options,
                                size_t struct_size) {
  const spanprof_recording_options unset = {
      .struct_size = struct_size,
      .scope = SPANPROF_UNSET,
      .sample_rate_hz = SPANPROF_UNSET,
      .native_frames = SPANPROF_UNSET,
      .duration_ms = SPANPROF_UNSET,
  };

  if (struct_size < sizeof struct_size || struct_size > sizeof unset)
    return sp_fail(
        SPANPROF_ERR_ARGUMENT,
        "struct_size is larger than spanprof_recording_options in this "
        "library; call spanprof_recording_options_init()");
  memcpy(options, &unset, struct_size);
  return SPANPROF_OK;
}

static spanprof_status option_check(const char *name, int64_t value,
                                    int64_t least, int64_t most) {
  if (value == SPANPROF_UNSET || (value >= least && value <= most))
    return SPANPROF_OK;
  return sp_fail(SPANPROF_ERR_ARGUMENT, "%s is %lld, not within %lld to %lld",
                 name, (long long)value, (long long)least, (long long)most);
}

static spanprof_status options_check(const spanprof_recording_options *given) {
  spanprof_status st = option_check(
      "scope", given->scope, SPANPROF_RECORDING_ALL, SPANPROF_RECORDING_MARK);

  if (!st)
    st = option_check("sample_rate_hz", given->sample_rate_hz, 1,
                      RECORDING_RATE_HZ_MAX);
  if (!st)
    st = option_check("native_frames", given->native_frames,
                      SPANPROF_NATIVE_FRAMES_NONE, SPANPROF_NATIVE_FRAMES_ALL);
  if (!st)
    st = option_check("duration_ms", given->duration_ms, 1,
                      INT64_MAX / (int64_t)SP_NS_PER_MS);
  return st;
}

static spanprof_status options_read(const spanprof_recording_options *given,
                                    spanprof_recording_options *out) {
  spanprof_status st = spanprof_recording_options_init(out, sizeof *out);

  if (given &&
      !sp_struct_copy(out, sizeof *out, given, sizeof given->struct_size))
    return sp_fail(
        SPANPROF_ERR_ARGUMENT,
        "struct_size is larger than spanprof_recording_options in this "
        "library; call spanprof_recording_options_init()");
  if (!st)
    st = options_check(out);
  if (out->scope == SPANPROF_UNSET)
    out->scope = SPANPROF_RECORDING_ALL;
  return st;
}

static sp_recording_config
config_create(const spanprof_recording_options *options) {
  sp_recording_config config = {
      .selection = {.scope = (spanprof_recording_scope)options->scope,
                    .carried = spanprof_span_carried(options->span),
                    .no_native_frames =
                        options->native_frames == SPANPROF_NATIVE_FRAMES_NONE},
      .duration_ns = UINT64_MAX,
      .native_frames = options->native_frames};

  if (options->scope == SPANPROF_RECORDING_THREAD)
    config.selection.tid = (uint32_t)syscall(SYS_gettid);
  else if (options->scope == SPANPROF_RECORDING_CONTEXT)
    config.selection.outer = spanprof_mark_get();
  else if (options->scope == SPANPROF_RECORDING_MARK)
    config.selection.outer = options->outer;
  if (options->sample_rate_hz != SPANPROF_UNSET)
    config.rate_hz = (uint32_t)options->sample_rate_hz;
  if (options->duration_ms != SPANPROF_UNSET)
    config.duration_ns = (uint64_t)options->duration_ms * SP_NS_PER_MS;
  return config;
}

/* Start a temporary session. It exports no profiles, even if the environment
 * names a server or a directory. The caller holds `changing` and `lock`, and no
 * session is running. */
static spanprof_status
temporary_start(const spanprof_recording_options *recording,
                spanprof_session **out) {
  spanprof_options options;
  spanprof_status st = sp_settings_check_enabled(sp_environment_own());

  if (!st)
    st = spanprof_options_init(&options, sizeof options);
  if (st)
    return st;
  options.server_address = "";
  options.output_directory = "";
  options.spool_directory = "";
  options.upload_interval_ms = RECORDING_HOUR_MS;
  options.flush_on_sigterm = 0;
  options.log_level = SPANPROF_LOG_ERROR;
  options.sample_rate_hz = recording->sample_rate_hz;
  options.native_frames = recording->native_frames;
  st = sp_session_create(out, &options);
  if (!st)
    (*out)->temporary = true;
  return st;
}

/* End a temporary session if it has no recordings. The caller holds `changing`
 * and `lock`. */
static void temporary_end_unused(spanprof_session *session) {
  if (session->temporary && session->recordings == 0)
    sp_session_end(session, 0);
}

/* Begin a recording in a running session. The caller holds `lock`. */
static spanprof_status recording_join(spanprof_recording *recording,
                                      spanprof_session *session) {
  spanprof_status st =
      sp_collector_record(session->pipeline.collector, recording->internal);

  recording->session = session->number;
  recording->clock = session->pipeline.clock;
  recording->pid = getpid();
  if (!st)
    session->recordings++;
  return st == SPANPROF_ERR_LIMIT
             ? sp_fail(st,
                       "%d recordings are already running, the maximum: end "
                       "one first",
                       SP_RECORDINGS_MAX)
             : st;
}

/* Begin a recording in the running session, or in a new temporary session. The
 * caller holds `changing` and `lock`. */
static spanprof_status
recording_start(spanprof_recording *recording,
                const spanprof_recording_options *options) {
  spanprof_session *session = sp_session_state.current;
  spanprof_status st = SPANPROF_OK;

  if (session && (session->stopping || !sp_session_in_process()))
    return sp_fail(SPANPROF_ERR_STATE, "the session is being stopped");
  if (!session)
    st = temporary_start(options, &session);
  if (st)
    return st;
  st = recording_join(recording, session);
  temporary_end_unused(session);
  return st;
}

static spanprof_status
recording_enter(spanprof_recording *recording,
                const spanprof_recording_options *options) {
  spanprof_status st = SPANPROF_ERR_STATE;
  spanprof_session *session;
  bool runs;

  sp_session_fork_ready();
  /* Only `lock` is acquired, not `changing`, so that a begin in a running
   * session does not wait while another thread starts or stops a session. */
  pthread_mutex_lock(&sp_session_state.lock);
  session = sp_session_state.current;
  runs = session && !session->stopping && sp_session_in_process();
  if (runs)
    st = recording_join(recording, session);
  pthread_mutex_unlock(&sp_session_state.lock);
  if (runs)
    return st;
  sp_session_lock();
  st = recording_start(recording, options);
  sp_session_unlock();
  return st;
}

static spanprof_status recording_new(spanprof_recording **out,
                                     const sp_recording_config *config) {
  const sp_mem *mem = &sp_mem_default;
  spanprof_recording *recording = sp_mem_zero(mem, sizeof *recording);

  *out = recording;
  if (recording && !sp_recording_new(&recording->internal, mem, config))
    return SPANPROF_OK;
  sp_mem_free(mem, recording);
  *out = NULL;
  return sp_fail(SPANPROF_ERR_NOMEM, "no memory for a recording");
}

static void recording_free(spanprof_recording *recording) {
  sp_recording_release(recording->internal);
  sp_mem_free(&sp_mem_default, recording);
}

spanprof_status
spanprof_recording_begin(const spanprof_recording_options *given,
                         spanprof_recording **out) {
  spanprof_recording_options options;
  sp_recording_config config;
  spanprof_recording *recording;
  spanprof_status st = options_read(given, &options);

  *out = NULL;
  if (st)
    return st;
  config = config_create(&options);
  st = recording_new(&recording, &config);
  if (st)
    return st;
  st = recording_enter(recording, &options);
  if (st) {
    recording_free(recording);
    return st;
  }
  /* Without the registration, the collector would find this thread only later,
   * and the recording would miss the thread's first samples. */
  spanprof_thread_register();
  if (options.scope == SPANPROF_RECORDING_CONTEXT)
    spanprof_mark_set(spanprof_recording_mark(recording));
  else if (options.scope != SPANPROF_RECORDING_MARK)
    sp_recording_wait_begun(recording->internal, recording->clock,
                            sp_clock_monotonic_ns(recording->clock) +
                                RECORDING_BEGIN_NS);
  *out = recording;
  return SPANPROF_OK;
}

spanprof_mark spanprof_recording_mark(const spanprof_recording *recording) {
  return recording->internal->config.selection.mark;
}

/* Return the recording's session, or NULL if the session was stopped. The
 * caller holds `lock`. */
static spanprof_session *
recording_session(const spanprof_recording *recording) {
  spanprof_session *session = sp_session_state.current;

  return session && session->number == recording->session ? session : NULL;
}

/* Request the end of the recording. */
static void recording_stop(const spanprof_recording *recording) {
  spanprof_session *session;

  sp_recording_stop(recording->internal);
  pthread_mutex_lock(&sp_session_state.lock);
  session = recording_session(recording);
  if (session)
    sp_collector_recording_stopped(session->pipeline.collector);
  pthread_mutex_unlock(&sp_session_state.lock);
}

static void recording_leave(const spanprof_recording *recording) {
  spanprof_session *session;
  bool last = false;

  pthread_mutex_lock(&sp_session_state.lock);
  session = recording_session(recording);
  if (session)
    last = --session->recordings == 0 && session->temporary;
  pthread_mutex_unlock(&sp_session_state.lock);
  if (!last)
    return;
  sp_session_lock();
  session = recording_session(recording);
  if (session && !session->stopping)
    temporary_end_unused(session);
  sp_session_unlock();
}

/* Create the profile that the caller of spanprof_recording_end() receives.
 * Takes ownership of the encoded bytes. */
static spanprof_status profile_new(const sp_recording *internal,
                                   sp_encoded *encoded,
                                   const spanprof_profile **out) {
  recording_profile *profile = sp_mem_zero(&sp_mem_default, sizeof *profile);

  if (!profile) {
    sp_encoded_dispose(encoded);
    return SPANPROF_ERR_NOMEM;
  }
  profile->encoded = *encoded;
  memcpy(profile->note, internal->note, sizeof profile->note);
  profile->view =
      (spanprof_profile){.struct_size = sizeof profile->view,
                         .bytes = encoded->bytes,
                         .size_bytes = encoded->size,
                         .time_ns = encoded->time_ns,
                         .duration_ns = encoded->duration_ns,
                         .samples = encoded->samples,
                         .cpu_ns = encoded->cpu_ns,
                         .note = profile->note[0] ? profile->note : NULL};
  *out = &profile->view;
  return SPANPROF_OK;
}

void spanprof_profile_free(const spanprof_profile *profile) {
  recording_profile *whole = (recording_profile *)(uintptr_t)profile;

  if (!profile)
    return;
  sp_encoded_dispose(&whole->encoded);
  sp_mem_free(&sp_mem_default, whole);
}

/* Wait for the profile of a recording whose end was requested. */
static spanprof_status recording_wait(const spanprof_recording *recording,
                                      const spanprof_profile **out) {
  sp_encoded encoded;
  spanprof_status st = sp_recording_wait(
      recording->internal, recording->clock,
      sp_clock_monotonic_ns(recording->clock) + RECORDING_END_NS, &encoded);

  if (!st)
    st = profile_new(recording->internal, &encoded, out);
  return st ? sp_fail(st, "nothing was recorded: %s", spanprof_status_text(st))
            : SPANPROF_OK;
}

spanprof_status spanprof_recording_end(spanprof_recording *recording,
                                       const spanprof_profile **out) {
  const sp_selection *selection;
  spanprof_status st = SPANPROF_OK;

  if (out)
    *out = NULL;
  if (!recording)
    return sp_fail(SPANPROF_ERR_ARGUMENT, "the recording to end is NULL");
  /* Another thread of the parent may have held the recording's lock at the
   * fork, so the recording is not touched. */
  if (recording->pid != getpid())
    return sp_fail(SPANPROF_ERR_STATE,
                   "the recording belongs to the process that forked this "
                   "one");
  selection = &recording->internal->config.selection;
  if (selection->scope == SPANPROF_RECORDING_CONTEXT &&
      spanprof_mark_get() == selection->mark)
    spanprof_mark_set(selection->outer);
  recording_stop(recording);
  if (out)
    st = recording_wait(recording, out);
  recording_leave(recording);
  recording_free(recording);
  return st;
}
