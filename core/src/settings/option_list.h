/* The list of all options except the callbacks. Macros generate the table of
 * options, the settings and the conversions of the bindings from this list.
 * `tests/package/option_lists.py --write` copies names, types and sentences
 * into the files for users. The public header describes the options in detail.
 */
#ifndef SP_OPTION_LIST_H
#define SP_OPTION_LIST_H

#include <spanprof/spanprof.h>

typedef enum sp_option_kind {
  SP_OPTION_TEXT,     /* UTF-8 on one line; "" in a call counts as not given */
  SP_OPTION_URL,      /* a text */
  SP_OPTION_TEXTS,    /* a text, items separated by commas; or a list */
  SP_OPTION_LABELS,   /* a text, "name=value,name=value"; or a mapping */
  SP_OPTION_PATH,     /* a text, the path of a file or directory */
  SP_OPTION_PROXY,    /* a URL; "" in the environment also means no proxy */
  SP_OPTION_NO_PROXY, /* a list; "" in the environment also means no hosts */
  SP_OPTION_LINES,    /* UTF-8, checked by its parser; or a mapping */
  SP_OPTION_NUMBER,   /* a whole number */
  SP_OPTION_RATE,   /* a number; a fraction, as in the Java agent, is ignored */
  SP_OPTION_SWITCH, /* 0 or 1; in the environment also true, false, ... */
  SP_OPTION_MS, /* milliseconds; in the environment a duration, by default in
                 * seconds */
  SP_OPTION_SECONDS, /* seconds; in the environment a duration, by default in
                      * seconds */
  SP_OPTION_LEVEL,   /* a spanprof_log_level; in the environment its name */
  SP_OPTION_NATIVE   /* a spanprof_native_frames; in the environment its name */
} sp_option_kind;

#define SP_OPTION_IS_TEXT(kind) ((kind) <= SP_OPTION_LINES)

#define SP_OPTION_BYTES_MIN 65536
#define SP_OPTION_BYTES_MAX (INT64_C(1) << 50)
#define SP_OPTION_AGE_MAX   (INT64_C(3650) * 86400)

/* Pyroscope drops the innermost frames of a stack that is deeper than 1000
 * (validation.max-profile-stacktrace-depth). */
#define SP_OPTION_DEPTH_MAX 512

/* Each entry is X(field of spanprof_options, kind, minimum, maximum, default,
 * sentence for users, variables...). The first variable that is set applies. If
 * the default is SPANPROF_UNSET, sp_settings_read() computes the default. */
#define SP_OPTION_LIST(X)                                                      \
  X(application_name, TEXT, 0, 0, 0,                                           \
    "Name of the service. If it is not given, the first of these names "       \
    "applies: `OTEL_SERVICE_NAME`, `service.name` of "                         \
    "`OTEL_RESOURCE_ATTRIBUTES`, the name in the tracer's Resource; "          \
    "after 30 s without a name, `unknown_service:EXECUTABLE`",                 \
    "PYROSCOPE_APPLICATION_NAME")                                              \
  X(labels, LABELS, 0, 0, 0,                                                   \
    "Labels of every profile, in the form `name=value,name=value`",            \
    "PYROSCOPE_LABELS")                                                        \
  X(resource_labels, TEXTS, 0, 0, 0,                                           \
    "Names of attributes in `OTEL_RESOURCE_ATTRIBUTES` that become "           \
    "labels, separated by commas; `service.namespace` always becomes a "       \
    "label",                                                                   \
    "PYROSCOPE_RESOURCE_LABELS")                                               \
  X(clean_label_names, SWITCH, 0, 1, 0,                                        \
    "Replace each invalid character of a label name by `_`; without "          \
    "this option, an invalid name makes the start fail",                       \
    "PYROSCOPE_CLEAN_LABEL_NAMES")                                             \
  X(dotted_label_names, SWITCH, 0, 1, 0,                                       \
    "Keep the dots of label names instead of replacing them by `_`; Grafana "  \
    "does not show names with dots",                                           \
    "PYROSCOPE_DOTTED_LABEL_NAMES")                                            \
  X(sample_rate_hz, RATE, 1, 1000, 100,                                        \
    "Samples per second of CPU time of each thread", "PYROSCOPE_SAMPLE_RATE",  \
    "PYROSCOPE_SAMPLING_RATE")                                                 \
  X(signal_number, NUMBER, 0, 64, 0,                                           \
    "Number of the signal that the timers send; 0 selects a free real-time "   \
    "signal",                                                                  \
    "PYROSCOPE_SIGNAL")                                                        \
  X(native_frames, NATIVE, SPANPROF_NATIVE_FRAMES_NONE,                        \
    SPANPROF_NATIVE_FRAMES_ALL, SPANPROF_NATIVE_FRAMES_LIBRARIES,              \
    "Native frames in stacks: `none`; `libraries`, native frames of all "      \
    "code except the interpreter itself, whose time belongs to the function "  \
    "that called it; or `all`, where each address without a name has its own " \
    "frame",                                                                   \
    "PYROSCOPE_NATIVE_FRAMES")                                                 \
  X(registered_threads_only, SWITCH, 0, 1, 0,                                  \
    "Profile only threads that registered, set a label or entered a span; "    \
    "threads of Python's `threading` register themselves",                     \
    "PYROSCOPE_REGISTERED_THREADS_ONLY")                                       \
  X(stack_depth_max, NUMBER, 16, SP_OPTION_DEPTH_MAX, SP_OPTION_DEPTH_MAX,     \
    "Maximum number of frames of a stack; in a deeper stack, one frame "       \
    "`[truncated]` replaces the outer frames",                                 \
    "PYROSCOPE_STACK_DEPTH_MAX")                                               \
  X(window_max_bytes, NUMBER, INT64_C(1) << 20, SP_OPTION_BYTES_MAX,           \
    INT64_C(64) << 20,                                                         \
    "Memory for the stacks, labels and names of one profile; when it is "      \
    "full, further stacks become `[too many stacks]`",                         \
    "PYROSCOPE_WINDOW_MAX_BYTES")                                              \
  X(report_pid, SWITCH, 0, 1, 0, "Add the label `pid` to every sample",        \
    "PYROSCOPE_REPORT_PID")                                                    \
  X(report_thread_id, SWITCH, 0, 1, 0,                                         \
    "Add the label `thread_id`, the kernel's number of the thread, to every "  \
    "sample",                                                                  \
    "PYROSCOPE_REPORT_THREAD_ID")                                              \
  X(report_thread_name, SWITCH, 0, 1, 0,                                       \
    "Add the label `thread_name`, the kernel's name of the thread, to every "  \
    "sample",                                                                  \
    "PYROSCOPE_REPORT_THREAD_NAME")                                            \
  X(server_address, URL, 0, 0, 0,                                              \
    "URL of the Pyroscope server, such as `http://pyroscope:4040`; without a " \
    "URL nothing is uploaded",                                                 \
    "PYROSCOPE_SERVER_ADDRESS")                                                \
  X(basic_auth_user, TEXT, 0, 0, 0, "User name for basic authentication",      \
    "PYROSCOPE_BASIC_AUTH_USER")                                               \
  X(basic_auth_password, TEXT, 0, 0, 0, "Password for basic authentication",   \
    "PYROSCOPE_BASIC_AUTH_PASSWORD")                                           \
  X(auth_token, TEXT, 0, 0, 0, "Bearer token that is sent to the server",      \
    "PYROSCOPE_AUTH_TOKEN")                                                    \
  X(tenant_id, TEXT, 0, 0, 0,                                                  \
    "Tenant, which is sent to the server in the header `X-Scope-OrgID`",       \
    "PYROSCOPE_TENANT_ID")                                                     \
  X(http_headers, LINES, 0, 0, 0,                                              \
    "Headers to add to every upload, as lines `Name: value`, as "              \
    "`name=value,name=value` or as a JSON object",                             \
    "PYROSCOPE_HTTP_HEADERS")                                                  \
  X(ca_bundle, PATH, 0, 0, 0,                                                  \
    "PEM file with the certificate authorities to trust, instead of the "      \
    "authorities of the system",                                               \
    "PYROSCOPE_CA_BUNDLE", "SSL_CERT_FILE")                                    \
  X(client_cert, PATH, 0, 0, 0, "PEM file of the client's certificate",        \
    "PYROSCOPE_CLIENT_CERT")                                                   \
  X(client_key, PATH, 0, 0, 0, "PEM file of the private key of `client_cert`", \
    "PYROSCOPE_CLIENT_KEY")                                                    \
  X(proxy, PROXY, 0, 0, 0,                                                     \
    "URL of the proxy, or \"\" for no proxy; if this option is not set, "      \
    "`HTTPS_PROXY`, `HTTP_PROXY` and `ALL_PROXY` are read",                    \
    "PYROSCOPE_PROXY")                                                         \
  X(no_proxy, NO_PROXY, 0, 0, 0,                                               \
    "Hosts to reach without the proxy, separated by commas; if this option "   \
    "is not set, `NO_PROXY` is read",                                          \
    "PYROSCOPE_NO_PROXY")                                                      \
  X(upload_protocol, TEXT, 0, 0, 0,                                            \
    "Protocol of uploads: `push` (the default) or `ingest`",                   \
    "PYROSCOPE_UPLOAD_PROTOCOL")                                               \
  X(upload_interval_ms, MS, 100, 3600000, 10000,                               \
    "Time that one profile covers", "PYROSCOPE_UPLOAD_INTERVAL")               \
  X(queue_bytes, NUMBER, SP_OPTION_BYTES_MIN, SP_OPTION_BYTES_MAX, 8388608,    \
    "Memory for encoded profiles that wait for their upload; when it is "      \
    "full, the oldest profiles move to the spool or are dropped",              \
    "PYROSCOPE_QUEUE_BYTES")                                                   \
  X(output_directory, PATH, 0, 0, 0,                                           \
    "Directory to which every profile is also written as a pprof file",        \
    "PYROSCOPE_OUTPUT_DIRECTORY")                                              \
  X(output_max_bytes, NUMBER, SP_OPTION_BYTES_MIN, SP_OPTION_BYTES_MAX,        \
    INT64_C(1) << 30,                                                          \
    "Size limit of `output_directory`; the oldest profiles are deleted first", \
    "PYROSCOPE_OUTPUT_MAX_BYTES")                                              \
  X(output_max_age_s, SECONDS, 1, SP_OPTION_AGE_MAX, 7 * 86400,                \
    "Age at which a profile in `output_directory` is deleted",                 \
    "PYROSCOPE_OUTPUT_MAX_AGE")                                                \
  X(spool_directory, PATH, 0, 0, 0,                                            \
    "Directory in which profiles wait while the server cannot be reached, "    \
    "also after the end of the process; without this directory they are "      \
    "dropped",                                                                 \
    "PYROSCOPE_SPOOL_DIRECTORY")                                               \
  X(spool_max_bytes, NUMBER, SP_OPTION_BYTES_MIN, SP_OPTION_BYTES_MAX,         \
    INT64_C(64) << 20,                                                         \
    "Size limit of `spool_directory`; the oldest profiles are deleted first",  \
    "PYROSCOPE_SPOOL_MAX_BYTES")                                               \
  X(spool_max_age_s, SECONDS, 1, SP_OPTION_AGE_MAX, 2700,                      \
    "Age at which a profile in `spool_directory` is deleted",                  \
    "PYROSCOPE_SPOOL_MAX_AGE")                                                 \
  X(span_names_max, NUMBER, 1, 1000000, 500,                                   \
    "Maximum number of distinct span names; further names become "             \
    "`[other]`",                                                               \
    "PYROSCOPE_SPAN_NAMES_MAX")                                                \
  X(label_values_max, NUMBER, 1, 1000000, 1024,                                \
    "Maximum number of distinct values of each label name; further "           \
    "values become `[other]`",                                                 \
    "PYROSCOPE_LABEL_VALUES_MAX")                                              \
  X(log_level, LEVEL, SPANPROF_LOG_DEBUG, SPANPROF_LOG_OFF, SPANPROF_UNSET,    \
    "Least severe message to log: `debug`, `info`, `warn`, `error` or `off`; " \
    "the default is `warn` on stderr, `info` with a logger",                   \
    "PYROSCOPE_LOG_LEVEL")                                                     \
  X(flush_on_sigterm, SWITCH, 0, 1, 0,                                         \
    "Send the remaining samples before SIGTERM ends the process, if the "      \
    "program does not handle SIGTERM; the default is true in Python",          \
    "PYROSCOPE_FLUSH_ON_SIGTERM")

#endif
