/* The checked and parsed options of a running session. The session creates
 * them; all parts of the library read them. */
#ifndef SP_SETTINGS_H
#define SP_SETTINGS_H

#include "option_list.h"
#include "util/memory/mem.h"

/* Declares the fields of options that the list checks completely: `number` for
 * a number, `flag` for a switch. Options of other kinds have the fields below.
 */
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

typedef struct sp_pair {
  char *name;
  char *value;
} sp_pair;

typedef enum sp_protocol { SP_PROTOCOL_PUSH, SP_PROTOCOL_INGEST } sp_protocol;

typedef struct sp_settings {
  const sp_mem *mem;
  char *application_name;
  bool name_open;  /* no name is given: it is "unknown_service:EXE" until a
                    * tracer's  Resource has one */
  sp_pair *labels; /* static labels without service_name and __name__; unique */
  size_t label_count;
  uint32_t labels_cleaned; /* number of cleaned names in `labels` */

  char
      *server_address; /* without credentials and trailing slash; may be NULL */
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
