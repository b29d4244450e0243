/* The settings: the checked and parsed options of a running session. The
 * session creates them, and all parts of the library read them. */
#ifndef SP_SETTINGS_H
#define SP_SETTINGS_H

#include "option_list.h"
#include "util/memory/mem.h"

/* These macros declare a field of sp_settings for each option that is a number
 * (`number`) or a switch (`flag`). The fields of all other options are declared
 * in the structure below. */
#define SP_SETTING_TEXT(number, flag)
#define SP_SETTING_URL(number, flag)
#define SP_SETTING_TEXTS(number, flag)
#define SP_SETTING_LABELS(number, flag)
#define SP_SETTING_PATH(number, flag)
#define SP_SETTING_PROXY(number, flag)
#define SP_SETTING_NO_PROXY(number, flag)
#define SP_SETTING_LINES(number, flag)
#define SP_SETTING_NUMBER(number, flag)  number;
#define SP_SETTING_RATE(number, flag)    number;
#define SP_SETTING_MS(number, flag)      number;
#define SP_SETTING_SECONDS(number, flag) number;
#define SP_SETTING_SWITCH(number, flag)  flag;
#define SP_SETTING_LEVEL(number, flag)
#define SP_SETTING_NATIVE(number, flag) number;

typedef struct sp_pair {
  char *name;
  char *value;
} sp_pair;

typedef enum sp_protocol { SP_PROTOCOL_PUSH, SP_PROTOCOL_INGEST } sp_protocol;

typedef struct sp_settings {
  const sp_mem *mem;
  char *application_name;
  /* No name is given, so application_name is "unknown_service:EXECUTABLE",
   * until a tracer's Resource has a name. */
  bool name_open;
  /* Static labels, except service_name and __name__. Their names are unique. */
  sp_pair *labels;
  size_t label_count;
  uint32_t labels_cleaned; /* number of names in `labels` that were cleaned */

  /* Without credentials and without a trailing slash. May be NULL. */
  char *server_address;
  char *basic_auth_user;
  char *basic_auth_password;
  char *auth_token;
  char *tenant_id;
  char **headers; /* "Name: value" */
  size_t header_count;
  char *ca_bundle;
  char *client_cert;
  char *client_key;
  char *proxy; /* may be NULL */
  char *no_proxy;
  sp_protocol protocol;
  char *output_directory;
  char *spool_directory;

  spanprof_log_fn log;
  void *log_data;
  spanprof_log_level log_level;
  spanprof_profile_fn on_profile;
  void *on_profile_data;

#define SP_SETTING_FIELD(name, kind, ...) \
  SP_SETTING_##kind(uint64_t name, bool name)
  SP_OPTION_LIST(SP_SETTING_FIELD)
#undef SP_SETTING_FIELD
} sp_settings;

#endif
