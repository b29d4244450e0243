/* Every option in one table: its field, its variables, what it may be, and
 * what it is when nobody says. Reading the table gives each option's value and
 * where it came from. */
#ifndef SP_OPTION_TABLE_H
#define SP_OPTION_TABLE_H

#include "../util/buffer.h"
#include "given.h"

typedef enum sp_option_kind {
  SP_OPTION_TEXT,    /* UTF-8 on one line; "" by call is "none" */
  SP_OPTION_PROXY,   /* the same, and "" in the environment is "none" too */
  SP_OPTION_LINES,   /* UTF-8; checked by whoever parses it */
  SP_OPTION_NUMBER,  /* a whole number */
  SP_OPTION_RATE,    /* the same; the Java agent's share of time is ignored */
  SP_OPTION_SWITCH,  /* 0 or 1; true, false, ... in the environment */
  SP_OPTION_MS,      /* milliseconds; a duration, bare seconds */
  SP_OPTION_SECONDS, /* seconds; a duration, bare seconds */
  SP_OPTION_LEVEL,   /* a spanprof_log_level; its name */
} sp_option_kind;

#define SP_OPTION_BYTES_MIN 65536
#define SP_OPTION_BYTES_MAX (INT64_C(1) << 50)
#define SP_OPTION_AGE_MAX   (INT64_C(3650) * 86400)

/* X(field of spanprof_options, kind, least, most, default, variables...), the
 * variables in the order of their weight. Defaults are those of the public
 * header; SPANPROF_UNSET: worked out by sp_settings_read(). */
#define SP_OPTION_TABLE(X)                                                    \
  X(application_name, TEXT, 0, 0, 0, "PYROSCOPE_APPLICATION_NAME")            \
  X(labels, TEXT, 0, 0, 0, "PYROSCOPE_LABELS")                                \
  X(resource_labels, TEXT, 0, 0, 0, "PYROSCOPE_RESOURCE_LABELS")              \
  X(clean_label_names, SWITCH, 0, 1, 0, "PYROSCOPE_CLEAN_LABEL_NAMES")        \
  X(dotted_label_names, SWITCH, 0, 1, 0, "PYROSCOPE_DOTTED_LABEL_NAMES")      \
  X(sample_rate_hz, RATE, 1, 1000, 100, "PYROSCOPE_SAMPLE_RATE",              \
    "PYROSCOPE_SAMPLING_RATE")                                                \
  X(signal_number, NUMBER, 0, 64, 0, "PYROSCOPE_SIGNAL")                      \
  X(native_frames, SWITCH, 0, 1, 1, "PYROSCOPE_NATIVE_FRAMES")                \
  X(report_pid, SWITCH, 0, 1, 0, "PYROSCOPE_REPORT_PID")                      \
  X(report_thread_id, SWITCH, 0, 1, 0, "PYROSCOPE_REPORT_THREAD_ID")          \
  X(report_thread_name, SWITCH, 0, 1, 0, "PYROSCOPE_REPORT_THREAD_NAME")      \
  X(server_address, TEXT, 0, 0, 0, "PYROSCOPE_SERVER_ADDRESS")                \
  X(basic_auth_user, TEXT, 0, 0, 0, "PYROSCOPE_BASIC_AUTH_USER")              \
  X(basic_auth_password, TEXT, 0, 0, 0, "PYROSCOPE_BASIC_AUTH_PASSWORD")      \
  X(auth_token, TEXT, 0, 0, 0, "PYROSCOPE_AUTH_TOKEN")                        \
  X(tenant_id, TEXT, 0, 0, 0, "PYROSCOPE_TENANT_ID")                          \
  X(http_headers, LINES, 0, 0, 0, "PYROSCOPE_HTTP_HEADERS")                   \
  X(ca_bundle, TEXT, 0, 0, 0, "PYROSCOPE_CA_BUNDLE", "SSL_CERT_FILE")         \
  X(client_cert, TEXT, 0, 0, 0, "PYROSCOPE_CLIENT_CERT")                      \
  X(client_key, TEXT, 0, 0, 0, "PYROSCOPE_CLIENT_KEY")                        \
  X(proxy, PROXY, 0, 0, 0, "PYROSCOPE_PROXY")                                 \
  X(no_proxy, PROXY, 0, 0, 0, "PYROSCOPE_NO_PROXY")                           \
  X(upload_protocol, TEXT, 0, 0, 0, "PYROSCOPE_UPLOAD_PROTOCOL")              \
  X(upload_interval_ms, MS, 100, 3600000, 10000, "PYROSCOPE_UPLOAD_INTERVAL") \
  X(queue_bytes, NUMBER, SP_OPTION_BYTES_MIN, SP_OPTION_BYTES_MAX, 8388608,   \
    "PYROSCOPE_QUEUE_BYTES")                                                  \
  X(output_directory, TEXT, 0, 0, 0, "PYROSCOPE_OUTPUT_DIRECTORY")            \
  X(output_max_bytes, NUMBER, SP_OPTION_BYTES_MIN, SP_OPTION_BYTES_MAX,       \
    INT64_C(1) << 30, "PYROSCOPE_OUTPUT_MAX_BYTES")                           \
  X(output_max_age_s, SECONDS, 1, SP_OPTION_AGE_MAX, 7 * 86400,               \
    "PYROSCOPE_OUTPUT_MAX_AGE")                                               \
  X(spool_directory, TEXT, 0, 0, 0, "PYROSCOPE_SPOOL_DIRECTORY")              \
  X(spool_max_bytes, NUMBER, SP_OPTION_BYTES_MIN, SP_OPTION_BYTES_MAX,        \
    INT64_C(64) << 20, "PYROSCOPE_SPOOL_MAX_BYTES")                           \
  X(spool_max_age_s, SECONDS, 1, SP_OPTION_AGE_MAX, 2700,                     \
    "PYROSCOPE_SPOOL_MAX_AGE")                                                \
  X(span_names_max, NUMBER, 1, 1000000, 500, "PYROSCOPE_SPAN_NAMES_MAX")      \
  X(label_values_max, NUMBER, 1, 1000000, 1024, "PYROSCOPE_LABEL_VALUES_MAX") \
  X(log_level, LEVEL, SPANPROF_LOG_DEBUG, SPANPROF_LOG_OFF, SPANPROF_UNSET,   \
    "PYROSCOPE_LOG_LEVEL")                                                    \
  X(flush_on_sigterm, SWITCH, 0, 1, 0, "PYROSCOPE_FLUSH_ON_SIGTERM")

typedef struct sp_option_values {
#define SP_OPTION_FIELD(name, ...) sp_given name;
  SP_OPTION_TABLE(SP_OPTION_FIELD)
#undef SP_OPTION_FIELD
} sp_option_values;

/* Whether a caller's structure reaches as far as the end of `field`. */
#define SP_OPTION_REACHES(options, field) \
  ((options)->struct_size >=              \
   offsetof(spanprof_options, field) + sizeof((spanprof_options *)0)->field)

/* Set the table's fields, as far as struct_size reaches, to "not given". */
void sp_option_table_unset(spanprof_options *options, size_t struct_size);

/* Each option's value: the call's, else the first variable that is set and not
 * "" (PYROSCOPE_PROXY and PYROSCOPE_NO_PROXY may be ""), else the default.
 * Texts point into `options` and `environment`. SPANPROF_ERR_ARGUMENT names
 * the option and its variable. */
spanprof_status sp_option_table_read(sp_option_values *out,
                                     const spanprof_options *options,
                                     char *const *environment,
                                     sp_buffer *notes);

/* Whether a variable belongs to an option. */
bool sp_option_table_knows(const char *variable, size_t bytes);

#endif
