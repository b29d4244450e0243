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
 * Reading order: statuses, options, session, threads, labels, spans, contexts,
 * recordings, statistics. The interface for a language's virtual machine is
 * runtime.h, next to this file.
 *
 * Unless a comment says otherwise, every function may be called from any
 * thread, also before spanprof_session_start() and after
 * spanprof_session_stop(), and none may be called from a signal handler.
 * Text is UTF-8; what is not is cleaned up and counted, never refused, except
 * in options. No function raises a signal, exits or prints (the log callback
 * prints). */
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

/* ------------------------------------------------------------------ status */

/* Every status: name, value, text. */
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

/* The text of a status: static, never NULL. Signal-safe. */
SPANPROF_API const char *spanprof_status_text(spanprof_status status);

/* One sentence about the last failure on the calling thread, naming the option
 * or file; "" if there was none. Valid until the thread's next failure. */
SPANPROF_API const char *spanprof_last_error(void);

/* "0.1.0": the version of the library that is loaded. */
SPANPROF_API const char *spanprof_version(void);

/* ----------------------------------------------------------------- options */

typedef enum spanprof_log_level {
  SPANPROF_LOG_DEBUG = 0,
  SPANPROF_LOG_INFO = 1,
  SPANPROF_LOG_WARN = 2,
  SPANPROF_LOG_ERROR = 3,
  SPANPROF_LOG_OFF = 4
} spanprof_log_level;

/* Receives one line, without a newline, valid during the call. Called from the
 * thread that starts or stops the session and from the library's own threads,
 * one call at a time; must not call back into spanprof. It may wait for threads
 * that call spanprof, unless they fork, begin or end a recording, or start,
 * look up, pause or resume a session. Not called once exit handlers run: from
 * then on warnings go to stderr. */
typedef void (*spanprof_log_fn)(void *data, spanprof_log_level level,
                                const char *message);

/* One finished profile, valid during the call. */
typedef struct spanprof_profile_view {
  size_t struct_size;
  const void *bytes;    /* gzip-compressed pprof */
  size_t size_bytes;    /* of bytes */
  uint64_t time_ns;     /* start of the window, Unix time; unique */
  uint64_t duration_ns; /* of the window */
  uint64_t samples;     /* samples taken that stand in it */
  uint64_t cpu_ns;      /* sum of its values */
  /* Recordings only: one sentence on how the profile differs from the requested
   * one; NULL: no difference. */
  const char *note;
} spanprof_profile_view;

/* Receives every finished profile, on the library's uploading thread, whatever
 * other exporters are configured. */
typedef void (*spanprof_profile_fn)(void *data,
                                    const spanprof_profile_view *profile);

/* A static label: text without length limits other than those of the server
 * (names 1024 bytes, values 2048). */
typedef struct spanprof_pair {
  const char *name;
  const char *value;
} spanprof_pair;

/* "Not given": the environment, then the default, decides. */
#define SPANPROF_UNSET INT64_MIN

/* What to profile and where to send it. Strings are copied by
 * spanprof_session_start(); NULL is "not given", numbers are SPANPROF_UNSET
 * for "not given", switches are 0 or 1. A given value beats the environment
 * variable named beside it, which beats the default. */
typedef struct spanprof_options {
  size_t struct_size; /* set by spanprof_options_init() */

  /* --- identity --- */
  /* Name of the service. PYROSCOPE_APPLICATION_NAME, else OTEL_SERVICE_NAME,
   * else service.name of OTEL_RESOURCE_ATTRIBUTES, else what
   * spanprof_resource_set() tells: profiles wait 30 s for it, from the first
   * on, then leave as "unknown_service:EXECUTABLE". */
  const char *application_name;
  /* Labels of every profile, "name=value,name=value". PYROSCOPE_LABELS. */
  const char *labels;
  /* More of them, where values hold commas; these win. No variable. */
  const spanprof_pair *label_pairs;
  size_t label_pair_count;
  /* Names, separated by commas, of OTEL_RESOURCE_ATTRIBUTES that become labels
   * beside service.namespace, "k8s.pod.name". PYROSCOPE_RESOURCE_LABELS. */
  const char *resource_labels;
  /* 1: what may not be in a label's name becomes `_`, is counted and said at
   * the start; 0, the default: it refuses the start.
   * PYROSCOPE_CLEAN_LABEL_NAMES. */
  int64_t clean_label_names;

  /* --- sampling --- */
  /* Samples per second of CPU time and thread, 1..1000, default 100.
   * PYROSCOPE_SAMPLE_RATE, PYROSCOPE_SAMPLING_RATE. */
  int64_t sample_rate_hz;
  /* The signal to use; 0, the default, finds a free real-time signal.
   * PYROSCOPE_SIGNAL. */
  int64_t signal_number;
  /* Native stacks, default 1. Without them samples carry the language's frames
   * alone and, where there are none, the function that ran.
   * PYROSCOPE_NATIVE_FRAMES. */
  int64_t native_frames;
  /* Labels that say where a sample was taken, default 0: `pid`, `thread_id`
   * (the kernel's number), `thread_name` (as the kernel has it, 15 bytes).
   * PYROSCOPE_REPORT_PID, PYROSCOPE_REPORT_THREAD_ID,
   * PYROSCOPE_REPORT_THREAD_NAME. */
  int64_t report_pid;
  int64_t report_thread_id;
  int64_t report_thread_name;

  /* --- server --- */
  /* "http://pyroscope:4040"; unset: profiles are not uploaded. A user and
   * password in it become basic auth. PYROSCOPE_SERVER_ADDRESS. */
  const char *server_address;
  const char *basic_auth_user;     /* PYROSCOPE_BASIC_AUTH_USER */
  const char *basic_auth_password; /* PYROSCOPE_BASIC_AUTH_PASSWORD */
  const char *auth_token;          /* bearer; PYROSCOPE_AUTH_TOKEN */
  const char *tenant_id;           /* X-Scope-OrgID; PYROSCOPE_TENANT_ID */
  /* "Name: value" lines separated by newlines, "name=value,..." or a JSON
   * object. PYROSCOPE_HTTP_HEADERS. */
  const char *http_headers;
  const char *ca_bundle;   /* PEM file; PYROSCOPE_CA_BUNDLE, SSL_CERT_FILE */
  const char *client_cert; /* PEM file; PYROSCOPE_CLIENT_CERT */
  const char *client_key;  /* PEM file; PYROSCOPE_CLIENT_KEY */
  /* "http://proxy:3128"; "" for none. PYROSCOPE_PROXY, else HTTPS_PROXY,
   * HTTP_PROXY, ALL_PROXY (either case). */
  const char *proxy;
  const char *no_proxy; /* PYROSCOPE_NO_PROXY, NO_PROXY, no_proxy */
  /* "push" (default) or "ingest". PYROSCOPE_UPLOAD_PROTOCOL. */
  const char *upload_protocol;
  /* Length of a profile's window, 100..3600000, default 10000.
   * PYROSCOPE_UPLOAD_INTERVAL in seconds or as "10s", "500ms", "1m". */
  int64_t upload_interval_ms;
  /* Encoded profiles waiting in memory, 65536.., default 8388608; the oldest
   * go to the spool, else are dropped and counted. PYROSCOPE_QUEUE_BYTES. */
  int64_t queue_bytes;

  /* --- disk --- */
  /* Directories that belong to the user the program runs as, and that nobody
   * else can write; made (0700) where only the last part is missing.
   *
   * Profiles are written here as {app}-{pid}-{start ns}.pb.gz, mode 0600.
   * PYROSCOPE_OUTPUT_DIRECTORY. Oldest go first past the caps. */
  const char *output_directory;
  int64_t output_max_bytes; /* default 1 GiB; PYROSCOPE_OUTPUT_MAX_BYTES */
  int64_t output_max_age_s; /* default 7 days; PYROSCOPE_OUTPUT_MAX_AGE */
  /* What cannot be sent waits here, also for the next process.
   * PYROSCOPE_SPOOL_DIRECTORY. */
  const char *spool_directory;
  int64_t spool_max_bytes; /* default 64 MiB; PYROSCOPE_SPOOL_MAX_BYTES */
  int64_t spool_max_age_s; /* default 2700; PYROSCOPE_SPOOL_MAX_AGE */

  /* --- caps --- */
  int64_t span_names_max;   /* default 500; PYROSCOPE_SPAN_NAMES_MAX */
  int64_t label_values_max; /* per name, default 1024;
                             * PYROSCOPE_LABEL_VALUES_MAX */

  /* --- callbacks --- */
  spanprof_log_fn log; /* default: stderr */
  void *log_data;
  int64_t log_level; /* default SPANPROF_LOG_WARN on stderr, INFO with a
                      * callback; PYROSCOPE_LOG_LEVEL by name */
  spanprof_profile_fn on_profile;
  void *on_profile_data;

  /* --- more of identity --- */
  /* 1: labels leave by the names they were given. 0, the default: with `_` for
   * each dot, since Grafana does not show the others; one that was given
   * without dots wins over one that had some. PYROSCOPE_DOTTED_LABEL_NAMES. */
  int64_t dotted_label_names;

  /* --- end --- */
  /* 1: where SIGTERM has its default action at the start, what there is is
   * handed on first, within 2 s, by a thread that waits for that; 0, the
   * default: it ends the process at once. As the first process of a container
   * (PID 1), which that action does not end: what there is is handed on, and
   * windows last a second from then on. A handler of the program is never
   * touched. PYROSCOPE_FLUSH_ON_SIGTERM. */
  int64_t flush_on_sigterm;

  /* --- more of sampling --- */
  /* 1: every native frame, also those that only started the interpreter, each
   * address without a name by itself, "libz.so.1+0x4970". 0, the default: what
   * is outside the language's outermost frame is left out, and neighbours
   * without a name in one module are one frame, "libz.so.1". CPU time is the
   * same either way. PYROSCOPE_FULL_NATIVE_STACKS. */
  int64_t full_native_stacks;
  /* 1: only threads that called spanprof_thread_register() or
   * spanprof_thread_set_data(), or had a label or span, are profiled, from then
   * on; the thread that starts the session is one. 0, the default: all.
   * PYROSCOPE_REGISTERED_THREADS_ONLY. */
  int64_t registered_threads_only;
  /* Frames of a stack, 16..512, default 512: the outer ones of a deeper one
   * become "[truncated]". PYROSCOPE_STACK_DEPTH_MAX. */
  int64_t stack_depth_max;
  /* Memory that one window's stacks, labels and names may take, 1 MiB..,
   * default 64 MiB: past it a stack that is new becomes "[too many stacks]",
   * with its CPU time, labels and span. PYROSCOPE_WINDOW_MAX_BYTES. */
  int64_t window_max_bytes;
} spanprof_options;

/* Set every field to "not given". `struct_size` is sizeof *options.
 * SPANPROF_ERR_ARGUMENT: the structure is larger than the library knows. */
SPANPROF_API spanprof_status spanprof_options_init(spanprof_options *options,
                                                   size_t struct_size);

/* Check the options and the environment exactly as spanprof_session_start()
 * does, and start nothing: no session, running or not, changes by it. What a
 * directory is refused for shows by making it, where its last part is missing,
 * and a file in it for an instant. A start may still fail where something
 * changes meanwhile or the system refuses it a timer, thread or file.
 *
 * Statuses and sentences as of the start, SPANPROF_ERR_STATE excepted. */
SPANPROF_API spanprof_status
spanprof_options_check(const spanprof_options *options);

/* ----------------------------------------------------------------- session */

/* The one profiling session of a process. */
typedef struct spanprof_session spanprof_session;

/* Check the options, then profile every thread of the process, those that
 * exist and those to come, until spanprof_session_stop() or exit().
 *
 * `options` may be NULL: the environment decides everything. On failure *out is
 * NULL, nothing runs, and spanprof_last_error() says in one sentence why.
 * SPANPROF_ERR_ARGUMENT: an option. SPANPROF_ERR_STATE: a session runs already.
 * SPANPROF_ERR_DISABLED: PYROSCOPE_AGENT_ENABLED=false. SPANPROF_ERR_SYSTEM:
 * timers or signals are not usable here. SPANPROF_ERR_LIMIT: two sessions whose
 * stop timed out still have a thread at work. SPANPROF_ERR_NOMEM. */
SPANPROF_API spanprof_status
spanprof_session_start(const spanprof_options *options, spanprof_session **out);

/* The running session, or NULL. Waits for a start or stop of another thread. */
SPANPROF_API spanprof_session *spanprof_session_current(void);

/* 1 from the success of a start until a stop is done, else 0. Waits for nobody;
 * async-signal-safe. */
SPANPROF_API int spanprof_session_running(void);

/* End the present window now and wait until its profiles have been handed on
 * (sent, written, spooled or counted as dropped), at most `timeout_ms`.
 * Afterwards no sample that was taken before the call is pending, except in the
 * spool. Call it before daemon(3), which ends the calling process.
 * SPANPROF_ERR_TIMEOUT: work goes on in the background. SPANPROF_ERR_STATE:
 * `session` is not the running session. */
SPANPROF_API spanprof_status spanprof_session_flush(spanprof_session *session,
                                                    uint32_t timeout_ms);

/* Take no samples from now on, until the resume: no thread has a timer, in this
 * process and in those it forks meanwhile. Samples taken before are exported
 * with their window as usual; flush and stop work. CPU time used during the
 * pause, and since each thread's last tick, is in no profile. A program that
 * resets every signal to its default action has to pause meanwhile: a sample
 * would terminate it. Idempotent: one resume ends any number of pauses.
 * SPANPROF_ERR_STATE: `session` is not the running session. */
SPANPROF_API spanprof_status spanprof_session_pause(spanprof_session *session);

/* Sample again, all threads from this instant. Idempotent. Statuses as of the
 * pause. */
SPANPROF_API spanprof_status spanprof_session_resume(spanprof_session *session);

/* Stop sampling, hand on what there is within `timeout_ms`, and free the
 * session; what could not be sent is spooled, else counted as dropped. Always
 * stops, also beside a callback that does not return (then within a second and
 * 100 ms where `timeout_ms` is less): SPANPROF_ERR_TIMEOUT only says that
 * samples were lost.
 * SPANPROF_ERR_STATE: `session` is not the running session (stopped before). */
SPANPROF_API spanprof_status spanprof_session_stop(spanprof_session *session,
                                                   uint32_t timeout_ms);

/* ----------------------------------------------------------------- threads */

/* Profile the calling thread from this instant, also where it was started with
 * every signal blocked: the session's is unblocked. The collector finds other
 * threads within 200 ms (up to 200 threads; 1 s up to 5,000), and books the CPU
 * time that they used before. A registered thread also books its last,
 * undelivered ticks when it ends. Idempotent; the thread's end unregisters it.
 * SPANPROF_ERR_NOMEM, SPANPROF_ERR_LIMIT (no timer left).
 */
SPANPROF_API spanprof_status spanprof_thread_register(void);

/* Undo spanprof_thread_register() before the thread ends. */
SPANPROF_API void spanprof_thread_unregister(void);

/* The calling thread works for the profiler (1), or no longer (0): for threads
 * of a language's own kind that name frames, say. It is never sampled; CPU time
 * that it used before is booked. It still counts as a thread of the program: if
 * main() ended with pthread_exit(), the process does not end before this
 * thread. Undo it before the thread goes back to a pool. */
SPANPROF_API void spanprof_thread_exclude(int excluded);

/* ------------------------------------------------------------------ labels */

/* An interned text, for the life of the process. 0 is "". */
typedef uint32_t spanprof_text;

/* What spanprof_label_pop() needs; 0 is "nothing was pushed". */
typedef uint64_t spanprof_label_token;

/* A set of labels, for the life of the process; 0 is the empty set. */
typedef uint32_t spanprof_label_set;

/* Intern `bytes` of `text`; the same text gives the same number.
 * SPANPROF_ERR_NOMEM, SPANPROF_ERR_LIMIT (too many texts): *out is 0. */
SPANPROF_API spanprof_status spanprof_text_intern(const char *text,
                                                  size_t bytes,
                                                  spanprof_text *out);

/* Attach name=value to what the calling thread does from now until the pop.
 * An inner label hides an outer one of the same name. Names outside
 * [A-Za-z_][A-Za-z0-9_.]* get `_` for each other character, counted; values
 * over the cap of distinct values become "[other]", counted; an empty value
 * hides an outer label and shows none. SPANPROF_ERR_NOMEM, SPANPROF_ERR_LIMIT
 * (128 deep, or 65,535 distinct sets in the process; counted): *out is 0 and
 * nothing was pushed. */
SPANPROF_API spanprof_status spanprof_label_push(const char *name,
                                                 size_t name_bytes,
                                                 const char *value,
                                                 size_t value_bytes,
                                                 spanprof_label_token *out);

/* The same with texts that end with NUL, not NULL: SPANPROF_ERR_ARGUMENT. */
SPANPROF_API spanprof_status spanprof_label_push_strings(
    const char *name, const char *value, spanprof_label_token *out);

/* The same with interned texts. Signal-safe once the pair was pushed before on
 * this thread. */
SPANPROF_API spanprof_status spanprof_label_push_text(
    spanprof_text name, spanprof_text value, spanprof_label_token *out);

/* Go back to the labels as they were before the push that gave `token`,
 * whatever was pushed and not popped since. A token whose push was undone
 * already is ignored and counted. Signal-safe. */
SPANPROF_API void spanprof_label_pop(spanprof_label_token token);

/* The calling thread's labels, and their replacement by a set from
 * spanprof_labels_get() (of any thread). Signal-safe. */
SPANPROF_API spanprof_label_set spanprof_labels_get(void);
SPANPROF_API void spanprof_labels_set(spanprof_label_set labels);

/* `set` with name=value in place of any label of that name (`set` itself where
 * it says so already), or, where `value` is NULL, without one; of no thread:
 * for languages that keep the set in a context of their own. Statuses as
 * spanprof_label_push(); then *out is `set`.
 */
SPANPROF_API spanprof_status spanprof_label_set_with(
    spanprof_label_set set, const char *name, size_t name_bytes,
    const char *value, size_t value_bytes, spanprof_label_set *out);

/* --------------------------------------------------------------- resource */

/* Tell the service of this process's spans: service.name and service.namespace
 * (0 bytes: none) of the Resource of their tracer. Grafana finds the profile of
 * a span by them, so they have to be the profiles' too: where no application
 * name was given, profiles have this one from now on, those that wait for it
 * included; where another one was, the log says so, once in a process. The
 * namespace becomes the label service_namespace, unless the labels have it.
 *
 * Copies the texts. For the first span of each process: a forked child knows
 * nothing of it, and has its parent's name until it is told. Before and after
 * the session's start; waits for nothing but memory.
 * SPANPROF_ERR_ARGUMENT: the name is empty. SPANPROF_ERR_NOMEM. */
SPANPROF_API spanprof_status spanprof_resource_set(
    const char *service_name, size_t service_name_bytes,
    const char *service_namespace, size_t service_namespace_bytes);

/* ------------------------------------------------------------------- spans */

/* How spans are labelled: what a span processor is made with. */
typedef struct spanprof_span_rules spanprof_span_rules;

/* Of add_url: where the link can be opened. That is where a url_template is
 * given, and, with no server_address of the rules' own, from when on an answer
 * of the session's server has the header "Spanprof-Links: span": it is asked
 * once, at the start (GET /ready), and each upload's answer is looked at. */
#define SPANPROF_URL_AUTO 2

typedef struct spanprof_span_rules_options {
  size_t struct_size; /* set by spanprof_span_rules_options_init() */
  /* "rideshare.cpu", for URLs; NULL: the session's application name. */
  const char *app_name;
  /* For URLs; NULL: the session's server address. Credentials are removed. */
  const char *server_address;
  /* 1 (default): samples carry the id and name of the local root, children's
   * too. 0: of the innermost active sampled span, and, as numeric pprof labels
   * "ancestor:NAME", the ids of those around it, for reports that add up. */
  int64_t root_span_only;
  int64_t add_span_name;     /* label span_name, default 1 */
  int64_t add_url;           /* pyroscope.profile.url, 0 or 1, default
                              * SPANPROF_URL_AUTO */
  int64_t add_baseline_urls; /* ….baseline.url and ….diff.url, default 0 */
  int64_t add_trace_id;      /* label trace_id, default 0 */
  int64_t legacy_span_label; /* label `span` instead of span_name, default 0 */
  int64_t span_id_label; /* label span_id instead of profile_id, default 0 */
  /* Labels of the baseline query beside the static ones,
   * "name=value,name=value"; default none. */
  const char *baseline_labels;
  /* A URL of your own in place of the classic one; {app}, {server}, {query},
   * {profile_id}, {trace_id}, {span_name}, {from}, {until} (Unix s), {from_ms},
   * {until_ms} are replaced, percent-encoded; {{ is a brace. */
  const char *url_template;
} spanprof_span_rules_options;

SPANPROF_API spanprof_status spanprof_span_rules_options_init(
    spanprof_span_rules_options *options, size_t struct_size);

/* Make rules; `options` may be NULL for the defaults. The caller owns them.
 * SPANPROF_ERR_ARGUMENT names the field, SPANPROF_ERR_NOMEM. */
SPANPROF_API spanprof_status spanprof_span_rules_new(
    const spanprof_span_rules_options *options, spanprof_span_rules **out);

/* Free rules; spans started with them live on. NULL is fine. */
SPANPROF_API void spanprof_span_rules_free(spanprof_span_rules *rules);

/* A span that was started; 0 is none. Numbers are not used twice, so a stale
 * one is harmless. */
typedef uint64_t spanprof_span;

/* What spanprof_span_leave() needs. */
typedef uint64_t spanprof_span_token;

/* Flags of a span. One without is sampled and of this process. */
#define SPANPROF_SPAN_SAMPLED       1u /* says what is so anyway */
#define SPANPROF_SPAN_PARENT_REMOTE 2u /* the parent is in another process */
#define SPANPROF_SPAN_UNSAMPLED     4u /* the trace flag is not set; wins */

typedef struct spanprof_span_info {
  size_t struct_size;   /* sizeof(spanprof_span_info) */
  uint8_t trace_id[16]; /* all zero: taken from the parent, else random */
  uint8_t span_id[8];   /* all zero: random, and the parent, unless given,
                         * is the calling thread's active span */
  uint8_t parent_id[8]; /* all zero: none */
  uint32_t flags;       /* SPANPROF_SPAN_* */
  const char *name;     /* not NULL */
  size_t name_bytes;
} spanprof_span_info;

/* Tell that a span started: decides, by the rules (NULL: the defaults), which
 * id and name its samples carry. Does not activate it.
 * SPANPROF_ERR_NOMEM, SPANPROF_ERR_LIMIT: *out is 0, which every call takes.
 * SPANPROF_ERR_ARGUMENT: the same; no name, or a struct_size of no version. */
SPANPROF_API spanprof_status
spanprof_span_start(const spanprof_span_rules *rules,
                    const spanprof_span_info *info, spanprof_span *out);

/* The same for a sampled span with random ids, by the default rules, whose
 * parent is the calling thread's active span; the name ends with NUL. */
SPANPROF_API spanprof_status spanprof_span_start_named(const char *name,
                                                       spanprof_span *out);

/* The span's name from now on, also for its samples of the running window. */
SPANPROF_API void spanprof_span_rename(spanprof_span span, const char *name,
                                       size_t name_bytes);

/* Tell that a span ended, on any thread. Its name stays what it is. Leaving it
 * before or after, or never, is fine. */
SPANPROF_API void spanprof_span_end(spanprof_span span);

/* Keep a span's id and name known until the release, though it ends: for those
 * who remember it where the library cannot see it (a language's own context; a
 * span that stands in a spanprof_context is kept anyhow). 1: kept; 0: the
 * number is 0 or was freed. Both are lock-free. */
SPANPROF_API int spanprof_span_retain(spanprof_span span);

/* Undo one spanprof_span_retain() that gave 1. */
SPANPROF_API void spanprof_span_release(spanprof_span span);

/* The span whose id samples under `span` carry by its rules: itself, its local
 * root, or 0; also 0 if `span` is 0 or was freed. Does not change. Lock-free.
 */
SPANPROF_API spanprof_span spanprof_span_carried(spanprof_span span);

/* The attributes the span should be given. */
typedef enum spanprof_span_attribute {
  SPANPROF_ATTRIBUTE_PROFILE_ID = 0,   /* "pyroscope.profile.id" */
  SPANPROF_ATTRIBUTE_URL = 1,          /* "pyroscope.profile.url" */
  SPANPROF_ATTRIBUTE_BASELINE_URL = 2, /* "pyroscope.profile.baseline.url" */
  SPANPROF_ATTRIBUTE_DIFF_URL = 3      /* "pyroscope.profile.diff.url" */
} spanprof_span_attribute;

/* The key of an attribute: static. */
SPANPROF_API const char *
spanprof_span_attribute_key(spanprof_span_attribute attribute);

/* Write the value of an attribute, NUL-terminated, into `buffer`; *length is
 * its length without the NUL, 0 where this span is not to have it (its id is
 * not the one samples carry, or the rules leave it out). SPANPROF_ERR_LIMIT:
 * `size` is too small, *length says what is needed. */
SPANPROF_API spanprof_status spanprof_span_attribute_get(
    const spanprof_span_rules *rules, spanprof_span span,
    spanprof_span_attribute attribute, char *buffer, size_t size,
    size_t *length);

/* The calling thread works for `span` (0: for none) until the leave. Nests;
 * deeper than 64 the outer 64 are kept and the rest counted. Signal-safe once
 * the thread has a context (any earlier call of this section). */
SPANPROF_API spanprof_status spanprof_span_enter(spanprof_span span,
                                                 spanprof_span_token *out);

/* Go back to what was active before the enter that gave `token`, whatever was
 * entered and not left since; a token left already is ignored and counted. */
SPANPROF_API void spanprof_span_leave(spanprof_span_token token);

/* The calling thread's active span, or 0. */
SPANPROF_API spanprof_span spanprof_span_active(void);

/* A span that the calling thread works for until the end of a block of C:
 *
 *     void checkout(cart *c) {
 *       SPANPROF_SPAN_SCOPE("checkout");
 *       ...                        every return, break and goto out ends it
 *     }
 *
 * Not exit(), longjmp() or the thread's cancellation. A statement of its own,
 * at most one a line, in GNU C and C++ (GCC, clang). */
#define SPANPROF_SPAN_SCOPE(name)                           \
  __attribute__((cleanup(spanprof_span_scope_end), unused)) \
  spanprof_span_scope                                       \
  SPANPROF_SCOPE_JOIN(spanprof_scope_, __LINE__) =          \
      spanprof_span_scope_begin(name)
#define SPANPROF_SCOPE_JOIN(a, b)       SPANPROF_SCOPE_JOIN_AGAIN(a, b)
#define SPANPROF_SCOPE_JOIN_AGAIN(a, b) a##b

/* What the macro keeps; of no meaning to others. */
typedef struct spanprof_span_scope {
  spanprof_span span;
  spanprof_span_token token;
} spanprof_span_scope;

/* What the macro calls: spanprof_span_start_named() and spanprof_span_enter(),
 * and their undoing on the same thread. Where no span could be had what was
 * active stays so, and spanprof_last_error() says why. */
SPANPROF_API spanprof_span_scope spanprof_span_scope_begin(const char *name);
SPANPROF_API void spanprof_span_scope_end(spanprof_span_scope *scope);

/* ---------------------------------------------------------------- contexts */

/* The labels and active spans of one flow of control. Every thread has its
 * own; a coroutine, fiber or task that moves between threads gets one by
 * spanprof_context_new(), and the scheduler switches. */
typedef struct spanprof_context spanprof_context;

/* A new, empty context. The caller owns it. SPANPROF_ERR_NOMEM. */
SPANPROF_API spanprof_status spanprof_context_new(spanprof_context **out);

/* Free a context that no thread is in (a thread that is falls back to its
 * own). NULL is fine. */
SPANPROF_API void spanprof_context_free(spanprof_context *context);

/* Make `to` the calling thread's context (NULL: its own) and return the one
 * before (NULL: its own). Signal-safe. */
SPANPROF_API spanprof_context *spanprof_context_switch(spanprof_context *to);

/* -------------------------------------------------------------- recordings */

/* A profile of the samples between a begin and an end, which only the caller
 * receives. Up to 1,024 recordings can run at the same time, with or without a
 * session; the session's own profiles contain the same samples. All of them
 * share one sampler: with a session they use its rate. Without one, the first
 * recording starts sampling with its own options and the environment's, and the
 * last one stops it.
 *
 * A recording ends early when the session that it uses is stopped, or when
 * spanprof_session_start() restarts the sampling: it keeps its samples, and its
 * note says so. A forked child has no recordings; the parent's continue. */
typedef struct spanprof_recording spanprof_recording;

/* Identifies the contexts that belong to a recording. The begin marks the
 * calling thread's context, and new contexts inherit the mark. 0: no recording.
 */
typedef uint64_t spanprof_mark;

/* Selects the samples of a recording. */
typedef enum spanprof_recording_scope {
  SPANPROF_RECORDING_ALL = 0,    /* the whole process */
  SPANPROF_RECORDING_THREAD = 1, /* the thread that calls the begin */
  /* Contexts with the recording's mark: the context that calls the begin, and
   * contexts that spanprof_context_new() makes in a marked one, on any thread.
   * A new thread has no mark until spanprof_mark_set(). */
  SPANPROF_RECORDING_CONTEXT = 2,
  /* Samples that carry the id of a span or of one of its descendants. With
   * root_span_only that id is the local root's. */
  SPANPROF_RECORDING_SPAN = 3,
  /* As CONTEXT, for a language with contexts of its own: the begin marks
   * nothing, the caller gives its contexts the mark, and `outer` is the mark of
   * its current one. */
  SPANPROF_RECORDING_MARK = 4
} spanprof_recording_scope;

typedef struct spanprof_recording_options {
  size_t struct_size;     /* set by spanprof_recording_options_init() */
  int64_t scope;          /* spanprof_recording_scope, default ALL */
  spanprof_span span;     /* for SPANPROF_RECORDING_SPAN */
  spanprof_mark outer;    /* for SPANPROF_RECORDING_MARK; default: 0 */
  int64_t sample_rate_hz; /* 1..1000; default: the environment's or 100 */
  int64_t native_frames;  /* default: as the sampler; 0: none */
  int64_t duration_ms;    /* ends the recording; default: no limit */
} spanprof_recording_options;

/* Set every field to "not given". SPANPROF_ERR_ARGUMENT: the structure is
 * larger than the library knows. */
SPANPROF_API spanprof_status spanprof_recording_options_init(
    spanprof_recording_options *options, size_t struct_size);

/* Begin a recording; `options` may be NULL for the defaults. It contains the
 * samples taken after the return. While sampling runs, the scopes CONTEXT and
 * MARK do not wait; the others wait for the collector (microseconds; at most 5
 * s on an overloaded machine). End each recording once, with
 * spanprof_recording_end(). SPANPROF_ERR_ARGUMENT: an invalid option.
 * SPANPROF_ERR_LIMIT: 1,024 recordings are running. SPANPROF_ERR_STATE: the
 * session is being stopped. Without a session also the statuses of
 * spanprof_session_start(). On failure *out is NULL. */
SPANPROF_API spanprof_status spanprof_recording_begin(
    const spanprof_recording_options *options, spanprof_recording **out);

/* End a recording on any thread, free it, and return its profile, which is
 * never split and may have no samples. The caller frees the profile with
 * spanprof_profile_free(). Waits for the collector, at most 10 s. With `out`
 * NULL the profile is discarded without waiting. SPANPROF_ERR_TIMEOUT,
 * SPANPROF_ERR_NOMEM. SPANPROF_ERR_STATE: called in a child that was forked
 * since the begin. On failure *out is NULL. */
SPANPROF_API spanprof_status spanprof_recording_end(
    spanprof_recording *recording, const spanprof_profile_view **out);

SPANPROF_API void spanprof_profile_free(const spanprof_profile_view *profile);

/* The mark of a recording with the scope CONTEXT or MARK, else 0. */
SPANPROF_API spanprof_mark
spanprof_recording_mark(const spanprof_recording *recording);

/* Get and set the mark of the calling thread's context: for work that a
 * recording's context hands to another thread. A mark whose recordings have
 * ended has no effect. Signal-safe. */
SPANPROF_API spanprof_mark spanprof_mark_get(void);
SPANPROF_API void spanprof_mark_set(spanprof_mark mark);

/* -------------------------------------------------------------- statistics */

#define SPANPROF_HANDLER_BUCKETS 16

/* Counters since the session's start, in this process. A "sample" is one
 * handled signal, a "tick" one elapsed interval (a sample stands for one tick
 * or, when the kernel was late, several).
 *
 * Until the stop: samples_taken = samples_pending + samples_exported +
 * the sum of samples_dropped_*; after it, with pending 0. The same holds for
 * ticks in place of samples. */
typedef struct spanprof_stats {
  size_t struct_size; /* set by the caller before spanprof_stats_get() */

  /* --- samples --- */
  uint64_t samples_taken;
  uint64_t ticks_taken;
  uint64_t samples_pending;  /* in rings, window, queue, spool */
  uint64_t samples_exported; /* in profiles that one exporter or more took */
  uint64_t ticks_exported;
  uint64_t samples_dropped_busy;    /* always 0: counted as [truncated] */
  uint64_t samples_dropped_full;    /* the collector was too slow */
  uint64_t samples_dropped_blocked; /* always 0: counted as [signal blocked] */
  uint64_t samples_dropped_memory;  /* allocation failed */
  uint64_t samples_dropped_export;  /* refused, too old, or no room */
  uint64_t samples_dropped_stop;    /* not handed on in time at the stop */
  uint64_t ticks_dropped;           /* of all of these */
  uint64_t ticks_booked_at_thread_end; /* or late, at its stop or pause */
  uint64_t ticks_overrun; /* ticks a sample stood for beyond its first */

  /* --- stacks --- */
  uint64_t stacks_truncated;      /* deeper than the slice or frame cap */
  uint64_t stacks_no_unwind_info; /* cut at code that has none */
  uint64_t stacks_foreign;        /* on a stack that could not be read */
  uint64_t stacks_walk_cut;       /* the runtime's walker stopped early */
  uint64_t frames_unnamed;        /* the runtime had no name */

  /* --- threads --- */
  uint64_t threads_seen;
  uint64_t threads_profiled;    /* now */
  uint64_t threads_blocked;     /* now: our signal is in their mask */
  uint64_t threads_unprofiled;  /* now: without a timer: [no timer] */
  uint64_t signals_foreign;     /* arrived, but not from our timers */
  uint64_t signal_handler_lost; /* times another handler replaced ours */

  /* --- labels and spans --- */
  uint64_t labels_cleaned;    /* names or values changed to be valid */
  uint64_t labels_capped;     /* values that became "[other]" */
  uint64_t labels_unbalanced; /* pops of a token already undone */
  uint64_t spans_started;
  uint64_t spans_live;
  uint64_t spans_unbalanced;
  uint64_t span_names_cleaned;
  uint64_t span_names_capped;

  /* --- profiles --- */
  uint64_t profiles_made;
  uint64_t profiles_sent;
  uint64_t profiles_written; /* to the output directory */
  uint64_t profiles_retried; /* attempts after the first */
  uint64_t profiles_dropped;
  uint64_t profiles_spooled;
  uint64_t profiles_removed; /* from the output directory, by its caps */
  uint64_t bytes_sent;
  uint64_t bytes_written;

  /* --- cost --- */
  /* handler_ns[i]: runs that took [2^i, 2^(i+1)) x 128 ns; [0] also less. */
  uint64_t handler_histogram[SPANPROF_HANDLER_BUCKETS];
  uint64_t handler_ns; /* in all runs */
  uint64_t collector_cpu_ns;
  uint64_t uploader_cpu_ns;

  /* --- labels and spans, continued --- */
  uint64_t labels_refused; /* pushes that failed: too many sets, or too deep */
  uint64_t spans_refused;  /* not started: too many live, or no memory */
} spanprof_stats;

/* Read the counters; `out->struct_size` says how much the caller knows. After
 * the stop: those of the last session. */
SPANPROF_API spanprof_status spanprof_stats_get(spanprof_stats *out);

#ifdef __cplusplus
}
#endif

#endif
