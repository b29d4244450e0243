/* Every option but the callbacks: the one list that the core's table, the
 * bindings' conversions and tests/package/lists_test.py are made of; users'
 * documents quote what it says of each. What an option means in full stands
 * beside its field in the public header. */
#ifndef SP_OPTION_LIST_H
#define SP_OPTION_LIST_H

#include <spanprof/spanprof.h>

typedef enum sp_option_kind {
  SP_OPTION_TEXT,    /* UTF-8 on one line; "" by call is "none" */
  SP_OPTION_LABELS,  /* the same, "name=value,name=value"; or a mapping */
  SP_OPTION_PATH,    /* the same as a text, of a file or directory */
  SP_OPTION_PROXY,   /* the same, and "" in the environment is "none" too */
  SP_OPTION_LINES,   /* UTF-8; checked by whoever parses it */
  SP_OPTION_NUMBER,  /* a whole number */
  SP_OPTION_RATE,    /* the same; the Java agent's share of time is ignored */
  SP_OPTION_SWITCH,  /* 0 or 1; true, false, ... in the environment */
  SP_OPTION_MS,      /* milliseconds; a duration, bare seconds */
  SP_OPTION_SECONDS, /* seconds; a duration, bare seconds */
  SP_OPTION_LEVEL    /* a spanprof_log_level; its name */
} sp_option_kind;

#define SP_OPTION_IS_TEXT(kind) ((kind) <= SP_OPTION_LINES)

#define SP_OPTION_BYTES_MIN 65536
#define SP_OPTION_BYTES_MAX (INT64_C(1) << 50)
#define SP_OPTION_AGE_MAX   (INT64_C(3650) * 86400)
#define SP_OPTION_DEPTH_MAX 512

/* X(field of spanprof_options, kind, least, most, default, what it is,
 * variables...), the variables in the order of their weight. SPANPROF_UNSET as
 * a default: worked out by sp_settings_read(). */
#define SP_OPTION_LIST(X)                                                      \
  X(application_name, TEXT, 0, 0, 0, "name of the service",                    \
    "PYROSCOPE_APPLICATION_NAME")                                              \
  X(labels, LABELS, 0, 0, 0, "labels of every profile", "PYROSCOPE_LABELS")    \
  X(resource_labels, TEXT, 0, 0, 0,                                            \
    "names of OTEL_RESOURCE_ATTRIBUTES that become labels",                    \
    "PYROSCOPE_RESOURCE_LABELS")                                               \
  X(clean_label_names, SWITCH, 0, 1, 0,                                        \
    "what may not be in a label's name becomes `_`",                           \
    "PYROSCOPE_CLEAN_LABEL_NAMES")                                             \
  X(dotted_label_names, SWITCH, 0, 1, 0,                                       \
    "labels leave by the names they were given",                               \
    "PYROSCOPE_DOTTED_LABEL_NAMES")                                            \
  X(sample_rate_hz, RATE, 1, 1000, 100,                                        \
    "samples per second of CPU time and thread", "PYROSCOPE_SAMPLE_RATE",      \
    "PYROSCOPE_SAMPLING_RATE")                                                 \
  X(signal_number, NUMBER, 0, 64, 0, "the signal to use", "PYROSCOPE_SIGNAL")  \
  X(native_frames, SWITCH, 0, 1, 1, "frames of C code",                        \
    "PYROSCOPE_NATIVE_FRAMES")                                                 \
  X(full_native_stacks, SWITCH, 0, 1, 0,                                       \
    "every native frame, also those that only started the interpreter",        \
    "PYROSCOPE_FULL_NATIVE_STACKS")                                            \
  X(registered_threads_only, SWITCH, 0, 1, 0,                                  \
    "no threads but those that register, by a label or span too",              \
    "PYROSCOPE_REGISTERED_THREADS_ONLY")                                       \
  X(stack_depth_max, NUMBER, 16, SP_OPTION_DEPTH_MAX, SP_OPTION_DEPTH_MAX,     \
    "frames of a stack, then \"[truncated]\"", "PYROSCOPE_STACK_DEPTH_MAX")    \
  X(window_max_bytes, NUMBER, INT64_C(1) << 20, SP_OPTION_BYTES_MAX,           \
    INT64_C(64) << 20, "memory of a window, then \"[too many stacks]\"",       \
    "PYROSCOPE_WINDOW_MAX_BYTES")                                              \
  X(report_pid, SWITCH, 0, 1, 0, "label `pid`", "PYROSCOPE_REPORT_PID")        \
  X(report_thread_id, SWITCH, 0, 1, 0,                                         \
    "label `thread_id`, the kernel's number", "PYROSCOPE_REPORT_THREAD_ID")    \
  X(report_thread_name, SWITCH, 0, 1, 0,                                       \
    "label `thread_name`, as the kernel has it",                               \
    "PYROSCOPE_REPORT_THREAD_NAME")                                            \
  X(server_address, TEXT, 0, 0, 0, "Pyroscope's URL",                          \
    "PYROSCOPE_SERVER_ADDRESS")                                                \
  X(basic_auth_user, TEXT, 0, 0, 0, "user of basic auth",                      \
    "PYROSCOPE_BASIC_AUTH_USER")                                               \
  X(basic_auth_password, TEXT, 0, 0, 0, "password of basic auth",              \
    "PYROSCOPE_BASIC_AUTH_PASSWORD")                                           \
  X(auth_token, TEXT, 0, 0, 0, "bearer token", "PYROSCOPE_AUTH_TOKEN")         \
  X(tenant_id, TEXT, 0, 0, 0, "header X-Scope-OrgID", "PYROSCOPE_TENANT_ID")   \
  X(http_headers, LINES, 0, 0, 0, "more headers of every upload",              \
    "PYROSCOPE_HTTP_HEADERS")                                                  \
  X(ca_bundle, PATH, 0, 0, 0, "PEM file of the authorities to trust",          \
    "PYROSCOPE_CA_BUNDLE", "SSL_CERT_FILE")                                    \
  X(client_cert, PATH, 0, 0, 0, "PEM file of the client's certificate",        \
    "PYROSCOPE_CLIENT_CERT")                                                   \
  X(client_key, PATH, 0, 0, 0, "PEM file of its key", "PYROSCOPE_CLIENT_KEY")  \
  X(proxy, PROXY, 0, 0, 0, "URL of a proxy; \"\" for none", "PYROSCOPE_PROXY") \
  X(no_proxy, PROXY, 0, 0, 0, "hosts reached without it",                      \
    "PYROSCOPE_NO_PROXY")                                                      \
  X(upload_protocol, TEXT, 0, 0, 0, "\"push\", the default, or \"ingest\"",    \
    "PYROSCOPE_UPLOAD_PROTOCOL")                                               \
  X(upload_interval_ms, MS, 100, 3600000, 10000,                               \
    "length of a profile's window", "PYROSCOPE_UPLOAD_INTERVAL")               \
  X(queue_bytes, NUMBER, SP_OPTION_BYTES_MIN, SP_OPTION_BYTES_MAX, 8388608,    \
    "encoded profiles waiting in memory", "PYROSCOPE_QUEUE_BYTES")             \
  X(output_directory, PATH, 0, 0, 0, "profiles are also written here",         \
    "PYROSCOPE_OUTPUT_DIRECTORY")                                              \
  X(output_max_bytes, NUMBER, SP_OPTION_BYTES_MIN, SP_OPTION_BYTES_MAX,        \
    INT64_C(1) << 30, "past it the oldest of them go",                         \
    "PYROSCOPE_OUTPUT_MAX_BYTES")                                              \
  X(output_max_age_s, SECONDS, 1, SP_OPTION_AGE_MAX, 7 * 86400,                \
    "how long they stay", "PYROSCOPE_OUTPUT_MAX_AGE")                          \
  X(spool_directory, PATH, 0, 0, 0, "what cannot be sent waits here",          \
    "PYROSCOPE_SPOOL_DIRECTORY")                                               \
  X(spool_max_bytes, NUMBER, SP_OPTION_BYTES_MIN, SP_OPTION_BYTES_MAX,         \
    INT64_C(64) << 20, "past it the oldest go", "PYROSCOPE_SPOOL_MAX_BYTES")   \
  X(spool_max_age_s, SECONDS, 1, SP_OPTION_AGE_MAX, 2700, "how long it waits", \
    "PYROSCOPE_SPOOL_MAX_AGE")                                                 \
  X(span_names_max, NUMBER, 1, 1000000, 500,                                   \
    "distinct span names, then \"[other]\"", "PYROSCOPE_SPAN_NAMES_MAX")       \
  X(label_values_max, NUMBER, 1, 1000000, 1024,                                \
    "distinct values of a label, then \"[other]\"",                            \
    "PYROSCOPE_LABEL_VALUES_MAX")                                              \
  X(log_level, LEVEL, SPANPROF_LOG_DEBUG, SPANPROF_LOG_OFF, SPANPROF_UNSET,    \
    "the least of what is logged", "PYROSCOPE_LOG_LEVEL")                      \
  X(flush_on_sigterm, SWITCH, 0, 1, 0,                                         \
    "hand on what there is before SIGTERM ends the process",                   \
    "PYROSCOPE_FLUSH_ON_SIGTERM")

#endif
