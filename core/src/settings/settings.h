/* The options of a running session: checked, parsed, owned. Filled by the
 * session, read by every room. */
#ifndef SP_SETTINGS_H
#define SP_SETTINGS_H

#include "util/memory/mem.h"

typedef struct sp_pair {
  char *name;
  char *value;
} sp_pair;

typedef enum sp_protocol { SP_PROTOCOL_PUSH, SP_PROTOCOL_INGEST } sp_protocol;

typedef struct sp_settings {
  const sp_mem *mem;
  char *application_name;
  bool name_open;  /* nobody gave it: "unknown_service:EXE", until a tracer's
                    * Resource says another */
  sp_pair *labels; /* static, without service_name and __name__; unique */
  size_t label_count;
  bool dotted_label_names; /* those of samples too; of the static ones it is
                            * done */
  uint32_t labels_cleaned; /* names of them that were made valid */

  uint32_t sample_rate_hz;
  int signal_number; /* 0: find one */
  bool native_frames;
  bool full_native_stacks;
  bool registered_threads_only;
  uint32_t stack_depth_max;  /* frames; at most SP_OPTION_DEPTH_MAX */
  uint64_t window_max_bytes; /* of a window's tables in memory */
  bool report_pid;
  bool report_thread_id;
  bool report_thread_name;

  char *server_address; /* no credentials, no trailing slash; NULL: none */
  char *basic_auth_user;
  char *basic_auth_password;
  char *auth_token;
  char *tenant_id;
  char **headers; /* "Name: value" */
  size_t header_count;
  char *ca_bundle;
  char *client_cert;
  char *client_key;
  char *proxy; /* NULL: none */
  char *no_proxy;
  sp_protocol protocol;
  uint64_t upload_interval_ns;
  uint64_t queue_bytes;

  char *output_directory;
  uint64_t output_max_bytes;
  uint64_t output_max_age_s;
  char *spool_directory;
  uint64_t spool_max_bytes;
  uint64_t spool_max_age_s;

  uint32_t span_names_max;
  uint32_t label_values_max;

  spanprof_log_fn log;
  void *log_data;
  spanprof_log_level log_level;
  spanprof_profile_fn on_profile;
  void *on_profile_data;

  bool flush_on_sigterm;
} sp_settings;

#endif
