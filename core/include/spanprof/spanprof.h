/* spanprof: a span-aware continuous CPU profiler for C, Ruby and Python.
 *
 * The shortest use:
 *
 *     spanprof_options options;
 *     spanprof_session *session;
 *
 *     spanprof_options_init(&options, sizeof options);
 *     options.application_name = "checkout";
 *     options.server_address = "http://localhost:4040";
 *     if (spanprof_session_start(&options, &session) != SPANPROF_OK)
 *       fprintf(stderr, "not profiled: %s\n", spanprof_last_error());
 *     ...
 *     spanprof_session_stop(session, 2000);
 *
 * The sections go from simple to advanced:
 *
 *     every program:       statuses, options, session, labels, spans
 *     on request:          recordings, profiles, statistics
 *     own schedulers:      contexts, threads
 *     tracers:             resource, span rules, attributes
 *     language bindings:   sets of labels, lifetime of spans; runtime.h
 *
 * Rules for all functions, unless a comment says otherwise:
 *
 * - Any thread may call them, also before spanprof_session_start() and after
 *   spanprof_session_stop().
 * - A signal handler must not call them. The comment of a function that it may
 *   call says "Signal-safe".
 * - They copy the strings that they receive. Strings are UTF-8. Invalid bytes
 *   are replaced and counted, but in an option they are an error. "Counted"
 *   means that a counter of spanprof_stats grows.
 * - A function that returns a status returns SPANPROF_OK if it succeeds. If it
 *   fails, it sets *out to 0 or NULL. Its comment lists the other statuses that
 *   it returns; SPANPROF_STATUSES has a text for each status.
 * - They raise no signal, do not end the process and print nothing, except that
 *   the default log callback writes to stderr. */
#ifndef SPANPROF_H
#define SPANPROF_H

#include <stddef.h>
#include <stdint.h>

#include "version.h"

#if defined(SPANPROF_STATIC)
#define SPANPROF_API
#else
#define SPANPROF_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------- statuses */

/* All statuses, each with its name, value and text. */
#define SPANPROF_STATUSES(X)                               \
  X(OK, 0, "success")                                      \
  X(ERR_NOMEM, -1, "out of memory")                        \
  X(ERR_ARGUMENT, -2, "an argument or option was refused") \
  X(ERR_STATE, -3, "not possible in the present state")    \
  X(ERR_SYSTEM, -4, "the operating system refused")        \
  X(ERR_UNSUPPORTED, -5, "not supported here")             \
  X(ERR_IO, -6, "reading, writing or sending failed")      \
  X(ERR_TIMEOUT, -7, "not done within the given time")     \
  X(ERR_FORMAT, -8, "not in the expected format")          \
  X(ERR_LIMIT, -9, "a limit was reached")                  \
  X(ERR_DISABLED, -10, "profiling is switched off by the environment")

typedef enum spanprof_status {
#define SPANPROF_STATUS_ENTRY(name, value, text) SPANPROF_##name = value,
  SPANPROF_STATUSES(SPANPROF_STATUS_ENTRY)
#undef SPANPROF_STATUS_ENTRY
      SPANPROF_STATUS_FORCE_INT = 0x7fffffff
} spanprof_status;

/* Return the text of a status. The text is static and never NULL. Signal-safe.
 */
SPANPROF_API const char *spanprof_status_text(spanprof_status status);

/* Return a sentence about the last failure of a function on the calling thread,
 * or "" if none has failed. The sentence names the option or file, if there is
 * one. It is valid until the thread's next failure. */
SPANPROF_API const char *spanprof_last_error(void);

/* Return the version of the loaded library, such as "0.1.0". The text is
 * static. */
SPANPROF_API const char *spanprof_version(void);

/* ----------------------------------------------------------------- options */

typedef enum spanprof_log_level {
  SPANPROF_LOG_DEBUG = 0,
  SPANPROF_LOG_INFO = 1,
  SPANPROF_LOG_WARN = 2,
  SPANPROF_LOG_ERROR = 3,
  SPANPROF_LOG_OFF = 4
} spanprof_log_level;

/* Selects the native frames that stacks contain. Native frames are those of
 * code that is not in an interpreted language. */
typedef enum spanprof_native_frames {
  /* Only frames of the language. A stack without such frames has one frame, the
   * running function. */
  SPANPROF_NATIVE_FRAMES_NONE = 0,
  /* Native frames inside of the outermost frame of the language, except those
   * of the interpreter: their time belongs to the frame that called them. In
   * Python programs, C functions such as sorted() have frames with their name.
   * Adjacent frames without a name in one module are one frame ("libz.so.1").
   * A stack without frames of the language has all native frames. */
  SPANPROF_NATIVE_FRAMES_LIBRARIES = 1,
  /* All native frames. An address without a name is "libz.so.1+0x4970". */
  SPANPROF_NATIVE_FRAMES_ALL = 2
} spanprof_native_frames;

/* A callback that receives one log line, without a newline. The line is valid
 * during the call. The threads that start or stop the session and the library's
 * own threads call the callback, one call at a time. The callback must not call
 * spanprof. It must not wait for a thread that forks, begins or ends a
 * recording, or starts, looks up, pauses or resumes a session. It may wait for
 * threads that call other functions of spanprof. Once exit handlers run, the
 * callback is no longer called, and warnings go to stderr. */
typedef void (*spanprof_log_fn)(void *data, spanprof_log_level level,
                                const char *message);

/* A profile as data. Defined in the section "profiles". */
typedef struct spanprof_profile spanprof_profile;

/* A callback that receives each finished profile of the session, on the
 * library's uploading thread. The profile is valid during the call. */
typedef void (*spanprof_profile_fn)(void *data,
                                    const spanprof_profile *profile);

/* A label of every profile. The name has at most 1024 bytes, the value at most
 * 2048. */
typedef struct spanprof_label_pair {
  const char *name;
  const char *value;
} spanprof_label_pair;

/* The value of a numeric option that is not given. A string that is not given
 * is NULL. For an option that is not given, the environment or the default
 * applies. */
#define SPANPROF_UNSET INT64_MIN

/* Options of a session: what to profile, and where to send the profiles. A
 * switch is 0 or 1. The names in capital letters in the comment of an option
 * are its environment variables. A value that is given takes precedence over
 * these variables, and they take precedence over the default. */
typedef struct spanprof_options {
  size_t struct_size; /* set by spanprof_options_init() */

  /* --- identity --- */
  /* Name of the service. If it is not given, the first of these names applies:
   * PYROSCOPE_APPLICATION_NAME, OTEL_SERVICE_NAME, service.name of
   * OTEL_RESOURCE_ATTRIBUTES, the name that spanprof_resource_set() receives.
   * The first profiles wait up to 30 s for a call of spanprof_resource_set().
   * Without a call, the name is "unknown_service:EXECUTABLE". */
  const char *application_name;
  /* Labels of every profile, "name=value,name=value". PYROSCOPE_LABELS. */
  const char *labels;
  /* More labels of every profile. Their values may contain commas. They take
   * precedence over `labels`. They have no environment variable. */
  const spanprof_label_pair *label_pairs;
  size_t label_pair_count;
  /* The names of the attributes in OTEL_RESOURCE_ATTRIBUTES that become labels,
   * separated by commas. service.namespace always becomes a label.
   * PYROSCOPE_RESOURCE_LABELS. */
  const char *resource_labels;
  /* 1: replace each invalid character of a label name by `_`, and log it. 0
   * (default): an invalid label name makes the start fail.
   * PYROSCOPE_CLEAN_LABEL_NAMES. */
  int64_t clean_label_names;
  /* 1: keep the dots in label names. 0 (default): replace each dot by `_`,
   * because Grafana does not show label names with dots. If this gives two
   * labels the same name, the label that was given without dots is used.
   * PYROSCOPE_DOTTED_LABEL_NAMES. */
  int64_t dotted_label_names;

  /* --- server --- */
  /* URL of the server, such as "http://pyroscope:4040". If it is not given,
   * profiles are not uploaded. A user and password in the URL are used for
   * basic authentication. PYROSCOPE_SERVER_ADDRESS. */
  const char *server_address;
  const char *basic_auth_user;     /* PYROSCOPE_BASIC_AUTH_USER */
  const char *basic_auth_password; /* PYROSCOPE_BASIC_AUTH_PASSWORD */
  const char *auth_token;          /* bearer token; PYROSCOPE_AUTH_TOKEN */
  const char *tenant_id; /* header X-Scope-OrgID; PYROSCOPE_TENANT_ID */
  /* More headers of each upload: lines "Name: value", a list
   * "name=value,name=value", or a JSON object. PYROSCOPE_HTTP_HEADERS. */
  const char *http_headers;
  const char *ca_bundle;   /* PEM file; PYROSCOPE_CA_BUNDLE, SSL_CERT_FILE */
  const char *client_cert; /* PEM file; PYROSCOPE_CLIENT_CERT */
  const char *client_key;  /* PEM file; PYROSCOPE_CLIENT_KEY */
  /* URL of the proxy, such as "http://proxy:3128". "" disables proxies.
   * PYROSCOPE_PROXY. If it is not set, HTTPS_PROXY or HTTP_PROXY applies,
   * depending on the scheme of server_address, and if that is not set,
   * ALL_PROXY. The last three names may also be in lower case. */
  const char *proxy;
  /* Hosts that are reached without the proxy, separated by commas.
   * PYROSCOPE_NO_PROXY, NO_PROXY, no_proxy. */
  const char *no_proxy;
  /* Pyroscope's API for uploads: "push" (default) or "ingest".
   * PYROSCOPE_UPLOAD_PROTOCOL. */
  const char *upload_protocol;
  /* Length of a window in milliseconds, 100..3600000, default 10000. A profile
   * contains the samples of one window. PYROSCOPE_UPLOAD_INTERVAL, in seconds
   * or with a unit: "10s", "500ms", "1m". */
  int64_t upload_interval_ms;
  /* Maximum size in bytes of the encoded profiles that wait in memory, at least
   * 65536, default 8388608. Beyond this size, the oldest profiles move to the
   * spool, or are dropped and counted if there is no spool_directory.
   * PYROSCOPE_QUEUE_BYTES. */
  int64_t queue_bytes;

  /* --- sampling --- */
  /* Samples per second of CPU time of each thread, 1..1000, default 100.
   * PYROSCOPE_SAMPLE_RATE, PYROSCOPE_SAMPLING_RATE. */
  int64_t sample_rate_hz;
  /* Number of the signal that the profiling timers send. 0 (default): a free
   * real-time signal. PYROSCOPE_SIGNAL. */
  int64_t signal_number;
  /* 1: profile only the thread that starts the session, and each other thread
   * from its first call of spanprof_thread_register() or
   * spanprof_thread_set_data(), or its first label or span. 0 (default):
   * profile all threads. PYROSCOPE_REGISTERED_THREADS_ONLY. */
  int64_t registered_threads_only;

  /* --- stacks --- */
  /* A spanprof_native_frames; default: LIBRARIES. This option does not affect
   * the CPU times of functions of the language, spans and labels.
   * PYROSCOPE_NATIVE_FRAMES, as a name such as "all". */
  int64_t native_frames;
  /* Maximum number of frames in a stack, 16..512, default 512. In a deeper
   * stack, one frame "[truncated]" replaces the outer frames.
   * PYROSCOPE_STACK_DEPTH_MAX. */
  int64_t stack_depth_max;

  /* --- labels of threads --- */
  /* 1: add the label `pid`, `thread_id` (the kernel's number of the thread) or
   * `thread_name` (the kernel's name of the thread, at most 15 bytes) to each
   * sample. Default 0. PYROSCOPE_REPORT_PID, PYROSCOPE_REPORT_THREAD_ID,
   * PYROSCOPE_REPORT_THREAD_NAME. */
  int64_t report_pid;
  int64_t report_thread_id;
  int64_t report_thread_name;

  /* --- disk --- */
  /* Only the user of the process may have write access to output_directory and
   * spool_directory. If only the last component of a path is missing, the
   * library creates it with mode 0700.
   *
   * Directory to which each profile is written, as a file
   * {app}-{pid}-{start_ns}.pb.gz with mode 0600. The oldest files are removed
   * if the limits of size or age below are exceeded.
   * PYROSCOPE_OUTPUT_DIRECTORY. */
  const char *output_directory;
  int64_t output_max_bytes; /* default 1 GiB; PYROSCOPE_OUTPUT_MAX_BYTES */
  int64_t output_max_age_s; /* default 7 days; PYROSCOPE_OUTPUT_MAX_AGE */
  /* The spool: the directory of profiles that could not be sent yet. The next
   * process that has the same spool_directory sends the profiles that this
   * process leaves there. Profiles beyond the limits of size and age below are
   * dropped and counted. PYROSCOPE_SPOOL_DIRECTORY. */
  const char *spool_directory;
  int64_t spool_max_bytes; /* default 64 MiB; PYROSCOPE_SPOOL_MAX_BYTES */
  int64_t spool_max_age_s; /* default 45 minutes; PYROSCOPE_SPOOL_MAX_AGE */

  /* --- limits --- */
  /* Maximum number of distinct span names in the process, default 500. Further
   * names become "[other]". PYROSCOPE_SPAN_NAMES_MAX. */
  int64_t span_names_max;
  /* Maximum number of distinct values of each label name, default 1024. Further
   * values become "[other]". PYROSCOPE_LABEL_VALUES_MAX. */
  int64_t label_values_max;
  /* Maximum memory, in bytes, of the stacks, labels and names of one window, at
   * least 1 MiB, default 64 MiB. Beyond this limit, each new stack is replaced
   * by "[too many stacks]"; its CPU time, labels and span are kept.
   * PYROSCOPE_WINDOW_MAX_BYTES. */
  int64_t window_max_bytes;

  /* --- end of the process --- */
  /* 1: if SIGTERM has its default action when the session starts, a thread of
   * the library waits for SIGTERM, and delivers the profiles within 2 s before
   * the process ends. The default action does not end PID 1 of a container, so
   * that process continues after SIGTERM, with windows of one second. A handler
   * of the program is never replaced. 0 (default): SIGTERM ends the process
   * immediately. PYROSCOPE_FLUSH_ON_SIGTERM. */
  int64_t flush_on_sigterm;

  /* --- callbacks --- */
  spanprof_log_fn log; /* default: stderr */
  void *log_data;
  /* A spanprof_log_level: the lowest level that is logged. Default: INFO if
   * `log` is given, otherwise WARN. PYROSCOPE_LOG_LEVEL, as a name such as
   * "debug". */
  int64_t log_level;
  spanprof_profile_fn on_profile;
  void *on_profile_data;
} spanprof_options;

/* Set every field to "not given". `struct_size` is sizeof *options. Returns
 * SPANPROF_ERR_ARGUMENT if the structure is larger than the library's, because
 * the header is newer than the library. */
SPANPROF_API spanprof_status spanprof_options_init(spanprof_options *options,
                                                   size_t struct_size);

/* Check the options and the environment as spanprof_session_start() does, but
 * do not start or change a session. The check of a directory creates the
 * directory if only its last component is missing, and creates and removes a
 * file in it. A later start can still fail if something has changed, or if the
 * system refuses a timer, thread or file. Returns the statuses of
 * spanprof_session_start(), except SPANPROF_ERR_STATE. */
SPANPROF_API spanprof_status
spanprof_options_check(const spanprof_options *options);

/* ----------------------------------------------------------------- session */

/* The profiling session. A process has at most one. */
typedef struct spanprof_session spanprof_session;

/* Check the options, then profile all present and future threads of the process
 * until spanprof_session_stop() or the end of the process. A forked child is
 * profiled, too. If `options` is NULL, the environment and the defaults apply.
 *
 * If the function fails, no session is started, and spanprof_last_error() gives
 * the reason. Returns SPANPROF_ERR_ARGUMENT if an option is invalid,
 * SPANPROF_ERR_STATE if a session is running, SPANPROF_ERR_DISABLED if
 * PYROSCOPE_AGENT_ENABLED is false, SPANPROF_ERR_SYSTEM if timers or signals
 * cannot be used, SPANPROF_ERR_IO if a file or directory cannot be used,
 * SPANPROF_ERR_LIMIT if threads of two earlier sessions still run because their
 * stop timed out, or SPANPROF_ERR_NOMEM. */
SPANPROF_API spanprof_status
spanprof_session_start(const spanprof_options *options, spanprof_session **out);

/* Stop sampling, deliver the remaining samples within `timeout_ms`, and free
 * the session. Samples that cannot be sent go to the spool, or are dropped and
 * counted. The session always ends after at most `timeout_ms` or 1.1 s,
 * whichever is longer, even if a callback does not return. Returns
 * SPANPROF_ERR_TIMEOUT if the session has ended but samples were lost, and
 * SPANPROF_ERR_STATE if `session` is not the running session. */
SPANPROF_API spanprof_status spanprof_session_stop(spanprof_session *session,
                                                   uint32_t timeout_ms);

/* End the present window, and wait at most `timeout_ms` until all profiles are
 * delivered: sent, written, spooled, or dropped and counted. Call this function
 * before daemon(3), which ends the calling process. Returns
 * SPANPROF_ERR_TIMEOUT if the time is over and the delivery continues in the
 * background, and SPANPROF_ERR_STATE if `session` is not the running session.
 */
SPANPROF_API spanprof_status spanprof_session_flush(spanprof_session *session,
                                                    uint32_t timeout_ms);

/* Pause the session: take no samples until spanprof_session_resume(), neither
 * in this process nor in processes that it forks during the pause. Samples that
 * were taken before are delivered as usual. The session can be flushed and
 * stopped during the pause. The CPU time of the pause is not recorded, and
 * neither is the CPU time of each thread between its last sample and the pause.
 * A program must pause the session while it resets all signals to their default
 * actions, because the profiling signal would end the process. Pauses do not
 * nest: one resume ends them all. Returns SPANPROF_ERR_STATE if `session` is
 * not the running session. */
SPANPROF_API spanprof_status spanprof_session_pause(spanprof_session *session);

/* End the pause: take samples again. Does nothing if the session is not paused.
 * Returns SPANPROF_ERR_STATE if `session` is not the running session. */
SPANPROF_API spanprof_status spanprof_session_resume(spanprof_session *session);

/* Return the running session, or NULL. Waits while another thread starts or
 * stops a session. */
SPANPROF_API spanprof_session *spanprof_session_current(void);

/* Return 1 if a session has been started and its stop is not complete, else 0.
 * Does not wait. Signal-safe. */
SPANPROF_API int spanprof_session_running(void);

/* ------------------------------------------------------------------ labels */

/* Identifies a push of a label. 0: nothing was pushed. */
typedef uint64_t spanprof_label_token;

/* Give the samples of the calling thread the label name=value until
 * spanprof_label_pop(). Both strings end with NUL. An inner label hides an
 * outer label of the same name; an inner label with an empty value hides it,
 * too, but adds no label. Names should match [A-Za-z_][A-Za-z0-9_.]*; each
 * other character becomes `_`, and the change is counted. If a name has
 * label_values_max values, further values become "[other]" and are counted. If
 * the function fails, nothing is pushed. Returns SPANPROF_ERR_ARGUMENT if a
 * string is NULL, SPANPROF_ERR_LIMIT (counted) if this is the thread's 129th
 * label or the process's 65,536th distinct set of labels, or
 * SPANPROF_ERR_NOMEM. */
SPANPROF_API spanprof_status spanprof_label_push(const char *name,
                                                 const char *value,
                                                 spanprof_label_token *out);

/* Does the same as spanprof_label_push(), but the strings have a length instead
 * of a NUL at the end. */
SPANPROF_API spanprof_status spanprof_label_push_bytes(
    const char *name, size_t name_bytes, const char *value, size_t value_bytes,
    spanprof_label_token *out);

/* Undo the push that returned `token`, and later pushes that were not popped.
 * If that push is already undone, the call has no effect and is counted.
 * Signal-safe. */
SPANPROF_API void spanprof_label_pop(spanprof_label_token token);

/* The id of an interned text, valid until the process ends. 0: "". */
typedef uint32_t spanprof_text_id;

/* Intern `text` for spanprof_label_push_ids(). Equal texts have equal ids.
 * Returns SPANPROF_ERR_ARGUMENT if `text` is NULL, SPANPROF_ERR_LIMIT if too
 * many texts are interned, or SPANPROF_ERR_NOMEM. */
SPANPROF_API spanprof_status spanprof_text_intern(const char *text,
                                                  size_t bytes,
                                                  spanprof_text_id *out);

/* Does the same as spanprof_label_push(), but with interned texts. Signal-safe
 * for a name and value that the thread has pushed together before. */
SPANPROF_API spanprof_status spanprof_label_push_ids(spanprof_text_id name,
                                                     spanprof_text_id value,
                                                     spanprof_label_token *out);

/* ------------------------------------------------------------------- spans */

/* The number of a started span. 0: none. Numbers are never reused, so the use
 * of an ended span's number is harmless. Every function accepts 0. */
typedef uint64_t spanprof_span;

/* Identifies a call of spanprof_span_enter(). */
typedef uint64_t spanprof_span_token;

/* Start a span and make it the calling thread's active span until the end of
 * the enclosing block:
 *
 *     void checkout(cart *c) {
 *       SPANPROF_SPAN_SCOPE("checkout");
 *       ...                 return, break and goto end the span
 *     }
 *
 * exit(), longjmp() and the cancellation of the thread do not end the span. The
 * macro is a statement, at most one on a line. It needs GNU C or C++ (GCC,
 * clang). */
#define SPANPROF_SPAN_SCOPE(name)                           \
  __attribute__((cleanup(spanprof_span_scope_end), unused)) \
  spanprof_span_scope                                       \
  SPANPROF_SCOPE_JOIN(spanprof_scope_, __LINE__) =          \
      spanprof_span_scope_begin(name)
#define SPANPROF_SCOPE_JOIN(a, b)       SPANPROF_SCOPE_JOIN_AGAIN(a, b)
#define SPANPROF_SCOPE_JOIN_AGAIN(a, b) a##b

/* The state of SPANPROF_SPAN_SCOPE. */
typedef struct spanprof_span_scope {
  spanprof_span span;
  spanprof_span_token token;
} spanprof_span_scope;

/* SPANPROF_SPAN_SCOPE calls these functions. The first function calls
 * spanprof_span_start_named() and spanprof_span_enter(). The second function
 * calls spanprof_span_leave() and spanprof_span_end(), on the same thread. If
 * no span can be started, the active span does not change, and
 * spanprof_last_error() gives the reason. */
SPANPROF_API spanprof_span_scope spanprof_span_scope_begin(const char *name);
SPANPROF_API void spanprof_span_scope_end(spanprof_span_scope *scope);

/* Start a sampled span with a random id and the default span rules. Its parent
 * is the calling thread's active span; if there is none, the trace id is
 * random, too. `name` ends with NUL. The span becomes active by
 * spanprof_span_enter(). Returns the status of spanprof_span_start(). */
SPANPROF_API spanprof_status spanprof_span_start_named(const char *name,
                                                       spanprof_span *out);

/* Make `span` (0: no span) the calling thread's active span until
 * spanprof_span_leave(). The thread's samples belong to the active span. Calls
 * nest. Signal-safe if the thread has called a function of this section before.
 * If the function fails, the active span does not change. Returns
 * SPANPROF_ERR_LIMIT (counted) if 64 calls of the thread are not undone yet, or
 * SPANPROF_ERR_NOMEM. */
SPANPROF_API spanprof_status spanprof_span_enter(spanprof_span span,
                                                 spanprof_span_token *out);

/* Undo the call of spanprof_span_enter() that returned `token`, and later calls
 * that are not undone. If that call is already undone, this function has no
 * effect and is counted. */
SPANPROF_API void spanprof_span_leave(spanprof_span_token token);

/* End a span, on any thread. The name of an ended span cannot change. The span
 * may still be active on a thread. */
SPANPROF_API void spanprof_span_end(spanprof_span span);

/* Return the calling thread's active span, or 0. */
SPANPROF_API spanprof_span spanprof_span_active(void);

/* Rename a span. The name also applies to its samples in the present window. */
SPANPROF_API void spanprof_span_rename(spanprof_span span, const char *name,
                                       size_t name_bytes);

/* -------------------------------------------------------------- recordings */

/* A recording yields a profile of the samples between
 * spanprof_recording_begin() and spanprof_recording_end(). Only the caller
 * receives this profile; the session's own profiles contain the same samples.
 * Up to 1,024 recordings can run at the same time, with or without a session.
 * All recordings share one sampler. While a session runs, this is the session's
 * sampler with its sample rate. Without a session, the first recording starts
 * the sampler with the options of the recording and the environment, and the
 * last recording stops the sampler.
 *
 * A recording ends early if its session is stopped, or if
 * spanprof_session_start() restarts the sampler. Such a recording keeps its
 * samples, and the `note` of its profile says so. A forked child has no
 * recordings; the parent's recordings continue. */
typedef struct spanprof_recording spanprof_recording;

/* The number that marks the contexts of a recording with the scope CONTEXT or
 * MARK. A context has one mark, which new contexts that are created in it
 * inherit. 0: no mark. */
typedef uint64_t spanprof_mark;

/* Selects the samples of a recording. */
typedef enum spanprof_recording_scope {
  SPANPROF_RECORDING_ALL = 0,    /* the whole process */
  SPANPROF_RECORDING_THREAD = 1, /* the thread that calls
                                  * spanprof_recording_begin() */
  /* Contexts with the recording's mark, on any thread:
   * spanprof_recording_begin() marks the calling thread's context, and
   * spanprof_context_new() gives a new context the mark of the context in which
   * it is called. A new thread has no mark until spanprof_mark_set(). */
  SPANPROF_RECORDING_CONTEXT = 2,
  /* Samples with the id of the span in the options or of one of its
   * descendants. With the span rule root_span_only, samples have the id of the
   * local root span. */
  SPANPROF_RECORDING_SPAN = 3,
  /* For a language with its own contexts: contexts with the recording's mark.
   * Unlike with the scope CONTEXT, spanprof_recording_begin() marks no context.
   * The caller marks its contexts, and passes the present mark of its current
   * context as `outer`. */
  SPANPROF_RECORDING_MARK = 4
} spanprof_recording_scope;

typedef struct spanprof_recording_options {
  size_t struct_size;     /* set by spanprof_recording_options_init() */
  int64_t scope;          /* spanprof_recording_scope, default ALL */
  spanprof_span span;     /* for SPANPROF_RECORDING_SPAN */
  spanprof_mark outer;    /* for SPANPROF_RECORDING_MARK; default: 0 */
  int64_t sample_rate_hz; /* 1..1000; default: the environment's or 100 */
  int64_t native_frames; /* a spanprof_native_frames; default: as the sampler */
  int64_t duration_ms;   /* maximum duration; default: no limit */
} spanprof_recording_options;

/* Set every field to "not given". `struct_size` is sizeof *options. Returns
 * SPANPROF_ERR_ARGUMENT if the structure is larger than the library's, because
 * the header is newer than the library. */
SPANPROF_API spanprof_status spanprof_recording_options_init(
    spanprof_recording_options *options, size_t struct_size);

/* Begin a recording. If `options` is NULL, the defaults apply. The recording
 * contains the samples that are taken after the function returns. If the
 * sampler runs, a recording with the scope CONTEXT or MARK begins without
 * waiting. Otherwise the function waits for the collector thread (microseconds;
 * at most 5 s on an overloaded machine). End each recording once, with
 * spanprof_recording_end(). Returns SPANPROF_ERR_ARGUMENT if an option is
 * invalid, SPANPROF_ERR_LIMIT if 1,024 recordings are running,
 * SPANPROF_ERR_STATE if the session is being stopped, or SPANPROF_ERR_NOMEM.
 * Without a session, it also returns the statuses of spanprof_session_start().
 */
SPANPROF_API spanprof_status spanprof_recording_begin(
    const spanprof_recording_options *options, spanprof_recording **out);

/* End a recording on any thread, free it, and return its profile. A recording
 * has exactly one profile, which may have no samples. The caller frees the
 * profile with spanprof_profile_free(). The function waits for the collector
 * thread, at most 10 s. If `out` is NULL, the profile is discarded without
 * waiting. Returns SPANPROF_ERR_ARGUMENT if `recording` is NULL,
 * SPANPROF_ERR_STATE if the recording belongs to the process that forked this
 * one, SPANPROF_ERR_TIMEOUT if the collector is too slow, or
 * SPANPROF_ERR_NOMEM. */
SPANPROF_API spanprof_status spanprof_recording_end(
    spanprof_recording *recording, const spanprof_profile **out);

/* Return the mark of a recording with the scope CONTEXT or MARK, else 0. */
SPANPROF_API spanprof_mark
spanprof_recording_mark(const spanprof_recording *recording);

/* Get or set the mark of the calling thread's context, for example when a
 * marked context passes work to another thread. A mark has no effect after its
 * recording has ended. Signal-safe. */
SPANPROF_API spanprof_mark spanprof_mark_get(void);
SPANPROF_API void spanprof_mark_set(spanprof_mark mark);

/* ---------------------------------------------------------------- profiles */

/* A finished profile: the argument of spanprof_profile_fn, or the result of
 * spanprof_recording_end(). */
struct spanprof_profile {
  size_t struct_size; /* size of the structure in the library */
  const void *bytes;  /* gzip-compressed pprof */
  size_t size_bytes;  /* size of `bytes` */
  /* Unix time of the start. No two profiles of a process have the same time. */
  uint64_t time_ns;
  uint64_t duration_ns; /* of the window or recording */
  uint64_t samples;     /* number of samples */
  uint64_t cpu_ns;      /* CPU time of all samples */
  /* A sentence on how the profile of a recording differs from the request, or
   * NULL if it does not differ. */
  const char *note;
};

/* Free the profile of a recording. `profile` may be NULL. */
SPANPROF_API void spanprof_profile_free(const spanprof_profile *profile);

/* -------------------------------------------------------------- statistics */

#define SPANPROF_HANDLER_BUCKETS 16

/* Counters of this process since the start of the session. A "sample" is one
 * handled profiling signal, or CPU time that is recorded without a signal. A
 * "tick" is one elapsed sampling interval of CPU time; a sample that is taken
 * late counts several ticks.
 *
 * samples_taken is the sum of samples_pending, samples_exported and all
 * samples_dropped_*. After the session's stop, samples_pending is 0, and
 * ticks_taken is the sum of ticks_exported and ticks_dropped. */
typedef struct spanprof_stats {
  size_t struct_size; /* set by the caller before spanprof_stats_get() */

  /* --- samples --- */
  uint64_t samples_taken;
  uint64_t ticks_taken;
  uint64_t samples_pending;  /* taken, but not delivered or dropped yet */
  uint64_t samples_exported; /* in delivered profiles */
  uint64_t ticks_exported;
  uint64_t samples_dropped_full;       /* the collector was too slow */
  uint64_t samples_dropped_memory;     /* allocation failed */
  uint64_t samples_dropped_export;     /* refused, too old, or queue full */
  uint64_t samples_dropped_stop;       /* not delivered before the stop */
  uint64_t ticks_dropped;              /* of all dropped samples */
  uint64_t ticks_booked_at_thread_end; /* also at a stop or pause */
  uint64_t ticks_overrun; /* beyond the first tick of each sample */

  /* --- stacks --- */
  /* Stacks that are deeper than the copied part or than stack_depth_max. */
  uint64_t stacks_truncated;
  uint64_t stacks_no_unwind_info; /* cut: code without unwind information */
  uint64_t stacks_foreign;        /* the stack could not be read */
  uint64_t stacks_walk_cut;       /* the runtime's walk stopped early */
  uint64_t frames_unnamed;        /* the runtime had no name */

  /* --- threads --- */
  uint64_t threads_seen;        /* found or registered since the start */
  uint64_t threads_profiled;    /* at present */
  uint64_t threads_blocked;     /* at present; they block the signal */
  uint64_t threads_unprofiled;  /* at present; their stacks are "[no timer]" */
  uint64_t signals_foreign;     /* not sent by a timer of the library */
  uint64_t signal_handler_lost; /* replacements of the signal handler */

  /* --- labels and spans --- */
  uint64_t labels_cleaned; /* labels with replaced characters */
  uint64_t labels_capped;  /* values that became "[other]" */
  uint64_t labels_refused; /* pushes that failed because of a limit */
  /* Pops of pushes that are already undone, and calls of spanprof_labels_set()
   * with an unknown set. */
  uint64_t labels_unbalanced;
  uint64_t spans_started;
  uint64_t spans_live;    /* at present: started and not freed */
  uint64_t spans_refused; /* not started: too many live, or no memory */
  /* Calls of spanprof_span_leave() that have no effect, and of
   * spanprof_span_enter() beyond 64. */
  uint64_t spans_unbalanced;
  uint64_t span_names_cleaned; /* names with replaced characters */
  uint64_t span_names_capped;  /* names that became "[other]" */

  /* --- profiles --- */
  uint64_t profiles_made;    /* encoded, except those of recordings */
  uint64_t profiles_sent;    /* accepted by the server */
  uint64_t profiles_written; /* to the output directory */
  uint64_t profiles_retried; /* upload attempts after the first */
  uint64_t profiles_dropped; /* neither sent nor moved to the spool */
  uint64_t profiles_spooled; /* moved to the spool */
  uint64_t profiles_removed; /* from the output directory, by its limits */
  uint64_t bytes_sent;       /* in accepted requests */
  uint64_t bytes_written;    /* to the output directory */

  /* --- cost --- */
  /* handler_histogram[i] is the number of runs of the signal handler that took
   * [2^i, 2^(i+1)) x 128 ns. The first bucket also counts shorter runs, the
   * last bucket also longer runs. */
  uint64_t handler_histogram[SPANPROF_HANDLER_BUCKETS];
  uint64_t handler_ns; /* time of all runs of the handler */
  uint64_t collector_cpu_ns;
  uint64_t uploader_cpu_ns;
} spanprof_stats;

/* Read the counters. After the session's stop, they are the final counts of
 * that session. The caller sets out->struct_size. Returns SPANPROF_ERR_ARGUMENT
 * if the structure is larger than the library's, because the header is newer
 * than the library. */
SPANPROF_API spanprof_status spanprof_stats_get(spanprof_stats *out);

/* ---------------------------------------------------------------- contexts */

/* The labels, active spans and mark of one flow of control. Every thread has
 * its own context. A scheduler creates a context for each coroutine, fiber or
 * task that can move between threads, and switches to that context when the
 * coroutine, fiber or task runs. */
typedef struct spanprof_context spanprof_context;

/* Create a context without labels and spans, with the mark of the calling
 * thread's current context. The caller owns the new context. Returns
 * SPANPROF_OK or SPANPROF_ERR_NOMEM. */
SPANPROF_API spanprof_status spanprof_context_new(spanprof_context **out);

/* Make `to` the calling thread's current context, and return the previous one.
 * NULL stands for the thread's own context. Signal-safe. */
SPANPROF_API spanprof_context *spanprof_context_switch(spanprof_context *to);

/* Free a context. A thread that still uses the context returns to its own
 * context. `context` may be NULL. */
SPANPROF_API void spanprof_context_free(spanprof_context *context);

/* ----------------------------------------------------------------- threads */

/* Profile the calling thread from now on, and unblock the profiling signal in
 * it. Without this call, the collector thread finds a new thread within 200 ms
 * (1 s in a process with 200 to 5,000 threads), and records the CPU time that
 * the new thread has used until then. When a registered thread ends, its last
 * ticks are recorded, too, and the thread is unregistered. Repeated calls do
 * nothing. Returns SPANPROF_ERR_LIMIT if the system has no free timer, or
 * SPANPROF_ERR_NOMEM. */
SPANPROF_API spanprof_status spanprof_thread_register(void);

/* Undo spanprof_thread_register() before the thread ends. */
SPANPROF_API void spanprof_thread_unregister(void);

/* Exclude the calling thread from sampling (1), or include it again (0). For
 * example, a language binding excludes its thread that names frames. The CPU
 * time before the call is recorded. The thread still counts as a thread of the
 * program: if main() ends by pthread_exit(), the process does not end before
 * this thread. An excluded thread of a pool must be included again before it
 * does other work. */
SPANPROF_API void spanprof_thread_exclude(int excluded);

/* ---------------------------------------------------------------- resource */

/* Set the service of this process's spans: service.name and service.namespace
 * (0 bytes: none) of the tracer's Resource. Grafana uses the service name to
 * find the profile of a span. If no application_name is given, profiles have
 * the service name from now on, also the profiles that wait for it. If another
 * application_name is given, profiles keep it, and one warning is logged. The
 * namespace becomes the label service_namespace, unless the options set that
 * label.
 *
 * Call this function at the first span of each process: a forked child uses the
 * name of its parent until the child calls it. Returns SPANPROF_ERR_ARGUMENT if
 * the name is empty, or SPANPROF_ERR_NOMEM. */
SPANPROF_API spanprof_status spanprof_resource_set(
    const char *service_name, size_t service_name_bytes,
    const char *service_namespace, size_t service_namespace_bytes);

/* -------------------------------------------------------------- span rules */

/* Rules for the labels that spans give to samples, and for the attributes of
 * spans. A span processor has one object of this type. */
typedef struct spanprof_span_rules spanprof_span_rules;

/* The default of add_url: a span has the attribute pyroscope.profile.url if a
 * server can show this URL. The library assumes this if the rules have a
 * url_template, or if they have no server_address and an answer of the
 * session's server had the header "Spanprof-Links: span". To find out, the
 * library sends one request (GET /ready) when the session starts, and reads the
 * header of each upload's answer. */
#define SPANPROF_URL_AUTO 2

typedef struct spanprof_span_rules_options {
  size_t struct_size; /* set by spanprof_span_rules_options_init() */
  /* 1 (default): samples have the id and name of the local root span. 0:
   * samples have the id and name of the innermost active sampled span, and the
   * ids of its ancestors as numeric labels "ancestor:NAME". */
  int64_t root_span_only;
  int64_t add_span_name;     /* label span_name, default 1 */
  int64_t add_trace_id;      /* label trace_id, default 0 */
  int64_t legacy_span_label; /* label `span` instead of span_name, default 0 */
  int64_t span_id_label; /* label span_id instead of profile_id, default 0 */
  /* Attribute pyroscope.profile.url: 0, 1 or SPANPROF_URL_AUTO, the default. */
  int64_t add_url;
  /* Attributes pyroscope.profile.baseline.url and pyroscope.profile.diff.url,
   * default 0. */
  int64_t add_baseline_urls;
  /* Labels that are added to the query in the baseline's URL,
   * "name=value,name=value". Default: none. */
  const char *baseline_labels;
  /* Application name in URLs, such as "rideshare.cpu". Default: the session's
   * application name. */
  const char *application_name;
  /* Address of the server in URLs. URLs contain no credentials. Default: the
   * session's server_address. */
  const char *server_address;
  /* Template of the URL. These fields are replaced by percent-encoded values:
   * {app}, {server}, {query}, {profile_id}, {trace_id}, {span_name}, {from} and
   * {until} (Unix time in seconds), {from_ms} and {until_ms} (in milliseconds).
   * {{ stands for one brace. */
  const char *url_template;
} spanprof_span_rules_options;

/* Set every field to "not given". `struct_size` is sizeof *options. Returns
 * SPANPROF_ERR_ARGUMENT if the structure is larger than the library's, because
 * the header is newer than the library. */
SPANPROF_API spanprof_status spanprof_span_rules_options_init(
    spanprof_span_rules_options *options, size_t struct_size);

/* Create span rules. The caller owns them. If `options` is NULL, the defaults
 * apply. Returns SPANPROF_ERR_ARGUMENT if a field is invalid
 * (spanprof_last_error() names the field), or SPANPROF_ERR_NOMEM. */
SPANPROF_API spanprof_status spanprof_span_rules_new(
    const spanprof_span_rules_options *options, spanprof_span_rules **out);

/* Free span rules. `rules` may be NULL. Spans that were started with these
 * rules do not change. */
SPANPROF_API void spanprof_span_rules_free(spanprof_span_rules *rules);

/* Flags of a span. Without flags, the span is sampled, and its parent is in
 * this process. */
#define SPANPROF_SPAN_SAMPLED       1u /* the default */
#define SPANPROF_SPAN_PARENT_REMOTE 2u /* the parent is in another process */
#define SPANPROF_SPAN_UNSAMPLED     4u /* overrides SPANPROF_SPAN_SAMPLED */

typedef struct spanprof_span_info {
  size_t struct_size;   /* sizeof(spanprof_span_info) */
  uint8_t trace_id[16]; /* all zero: the trace of the parent, or a random one */
  /* All zero: a random id; if parent_id is also all zero, the parent is the
   * calling thread's active span. */
  uint8_t span_id[8];
  uint8_t parent_id[8]; /* all zero: no parent */
  uint32_t flags;       /* SPANPROF_SPAN_* */
  const char *name;     /* not NULL */
  size_t name_bytes;
} spanprof_span_info;

/* Start a tracer's span. The rules (NULL: the defaults) decide which id and
 * name its samples have. The span becomes active by spanprof_span_enter().
 * Returns SPANPROF_ERR_ARGUMENT if `name` is NULL or struct_size is unknown,
 * SPANPROF_ERR_LIMIT if there are too many live spans, or SPANPROF_ERR_NOMEM.
 */
SPANPROF_API spanprof_status
spanprof_span_start(const spanprof_span_rules *rules,
                    const spanprof_span_info *info, spanprof_span *out);

/* The attributes that a tracer should set on a span. */
typedef enum spanprof_span_attribute {
  SPANPROF_ATTRIBUTE_PROFILE_ID = 0,   /* "pyroscope.profile.id" */
  SPANPROF_ATTRIBUTE_URL = 1,          /* "pyroscope.profile.url" */
  SPANPROF_ATTRIBUTE_BASELINE_URL = 2, /* "pyroscope.profile.baseline.url" */
  SPANPROF_ATTRIBUTE_DIFF_URL = 3      /* "pyroscope.profile.diff.url" */
} spanprof_span_attribute;

/* Return the key of an attribute. The text is static. */
SPANPROF_API const char *
spanprof_span_attribute_key(spanprof_span_attribute attribute);

/* Write the value of an attribute into `buffer`, with a NUL. *length is set to
 * the length without the NUL. It is 0 if the span does not have the attribute,
 * because no sample has the span's id or because the rules omit the attribute.
 * Returns SPANPROF_ERR_LIMIT if `size` is too small; *length is then the
 * required length. */
SPANPROF_API spanprof_status spanprof_span_attribute_get(
    const spanprof_span_rules *rules, spanprof_span span,
    spanprof_span_attribute attribute, char *buffer, size_t size,
    size_t *length);

/* ------------------------------------------------------- language bindings */

/* These functions are for languages that store labels and spans in their own
 * contexts. The callback read_context (runtime.h) reads these contexts. */

/* The number of a set of labels, valid until the process ends. 0: the empty
 * set. */
typedef uint32_t spanprof_labels;

/* Get the set of labels of the calling thread, or replace it by another set. A
 * set is valid on all threads. Signal-safe. */
SPANPROF_API spanprof_labels spanprof_labels_get(void);
SPANPROF_API void spanprof_labels_set(spanprof_labels labels);

/* Make a set that differs from `labels` in one label: it contains name=value,
 * or no label `name` if `value` is NULL. The labels of the calling thread do
 * not change. Returns the statuses of spanprof_label_push(). If the function
 * fails, *out is `labels`. */
SPANPROF_API spanprof_status spanprof_labels_derive(
    spanprof_labels labels, const char *name, size_t name_bytes,
    const char *value, size_t value_bytes, spanprof_labels *out);

/* While `span` is active, samples have the id of one span. Return that span.
 * Depending on the rules of `span`, it is `span` itself, its local root,
 * another span around it, or 0 (none). The result does not change until `span`
 * is freed, which happens after its end, when nothing refers to it. After that,
 * the result is 0. Lock-free. */
SPANPROF_API spanprof_span spanprof_span_carried(spanprof_span span);

/* Keep the id and name of a span, also after its end, until
 * spanprof_span_release(). A binding must call this function if only a context
 * of the language refers to the span; the library itself retains the spans of a
 * spanprof_context. Returns 1, or 0 if `span` is 0 or was freed. Lock-free. */
SPANPROF_API int spanprof_span_retain(spanprof_span span);

/* Undo one spanprof_span_retain() that returned 1. Lock-free. */
SPANPROF_API void spanprof_span_release(spanprof_span span);

#ifdef __cplusplus
}
#endif

#endif
