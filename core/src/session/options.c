#include "options.h"

#include <signal.h>
#include <string.h>

#include "sampler/handler/signal.h"
#include "settings/environment.h"
#include "settings/identity.h"
#include "settings/option_path.h"
#include "settings/server_settings.h"
#include "util/system/status.h"
#include "util/text/ascii.h"
#include "util/text/list.h"
#include "util/text/utf8.h"

#define OPTIONS_SWITCH "PYROSCOPE_AGENT_ENABLED"

spanprof_status spanprof_options_init(spanprof_options *options,
                                      size_t struct_size) {
  if (!options || struct_size < sizeof options->struct_size ||
      struct_size > sizeof *options)
    return sp_fail(
        SPANPROF_ERR_ARGUMENT,
        "struct_size is %zu, but spanprof_options has at most %zu bytes in "
        "this library",
        struct_size, sizeof *options);
  memset(options, 0, struct_size);
  options->struct_size = struct_size;
  sp_option_table_unset(options, struct_size);
  return SPANPROF_OK;
}

static spanprof_status options_check_size(const spanprof_options *options) {
  if (!options || (options->struct_size >= sizeof options->struct_size &&
                   options->struct_size <= sizeof *options))
    return SPANPROF_OK;
  return sp_fail(
      SPANPROF_ERR_ARGUMENT,
      "struct_size is %zu, but spanprof_options has at most %zu bytes "
      "in this library; call spanprof_options_init()",
      options->struct_size, sizeof *options);
}

static spanprof_status options_check_switch(char *const *environment) {
  const char *text = sp_environment_get(environment, OPTIONS_SWITCH);
  char shown[SP_OPTION_SHOWN_BYTES];
  bool on;

  if (!text || !sp_environment_switch(text, &on))
    return SPANPROF_OK;
  sp_option_show(text, strlen(text), shown);
  return sp_fail(SPANPROF_ERR_ARGUMENT,
                 OPTIONS_SWITCH " is \"%s\", not true or false", shown);
}

static spanprof_status options_read_name(sp_settings *out,
                                         const sp_option_values *values,
                                         const sp_identity *identity,
                                         char *const *environment) {
  sp_option_value given = values->application_name;
  const char *start, *end;
  size_t bytes, control;

  if (!given.text)
    sp_identity_service_name(identity, environment, &given);
  if (!given.text) {
    out->name_open = true;
    out->application_name = sp_identity_default_name(out->mem);
    return out->application_name ? SPANPROF_OK : sp_option_no_memory();
  }
  start = given.text;
  end = start + strlen(start);
  sp_list_trim(&start, &end);
  bytes = (size_t)(end - start);
  if (bytes == 0)
    return sp_option_refuse(&given, "is empty");
  if (bytes > SP_LABEL_VALUE_MAX_BYTES)
    return sp_option_refuse(&given, "has %zu bytes; the server accepts %d",
                            bytes, SP_LABEL_VALUE_MAX_BYTES);
  if (!sp_utf8_valid(start, bytes))
    return sp_option_refuse(&given, "is not valid UTF-8");
  control = sp_ascii_find_control(start, bytes);
  if (control < bytes)
    return sp_option_refuse(&given, "has a control character at byte %zu",
                            control + 1);
  out->application_name = sp_mem_text(out->mem, start, bytes);
  return out->application_name ? SPANPROF_OK : sp_option_no_memory();
}

static spanprof_status options_read_pairs(const spanprof_options *options,
                                          sp_label_list *labels,
                                          sp_buffer *notes) {
  static const sp_option_value labels_given = {.option = "labels"};
  static const sp_option_value given = {.option = "label_pairs"};
  spanprof_status st = SPANPROF_OK;
  size_t i;

  if (!options || !SP_OPTION_REACHES(options, label_pair_count))
    return SPANPROF_OK;
  if (options->label_pair_count && !options->label_pairs)
    return sp_option_refuse(&given, "is NULL, but label_pair_count is %zu",
                            options->label_pair_count);
  sp_label_list_next_source(labels);
  for (i = 0; i < options->label_pair_count && !st; i++) {
    const spanprof_label_pair *pair = &options->label_pairs[i];

    if (!pair->name || !pair->value)
      st = sp_option_refuse(&given, "has no name or value at index %zu", i);
    else
      st = sp_label_list_set(labels, &labels_given, pair->name,
                             strlen(pair->name), pair->value,
                             strlen(pair->value), notes);
  }
  return st;
}

static spanprof_status options_read_labels(sp_settings *out,
                                           const sp_option_values *values,
                                           const spanprof_options *options,
                                           const sp_identity *identity,
                                           sp_buffer *notes) {
  sp_label_list labels;
  spanprof_status st;

  sp_label_list_init(&labels, out->mem);
  labels.keep_dots = values->dotted_label_names.number != 0;
  st = sp_identity_labels(identity, &values->resource_labels, &labels, notes);
  sp_label_list_next_source(&labels);
  labels.clean = values->clean_label_names.number != 0;
  if (!st)
    st = sp_label_list_parse(&labels, &values->labels, notes);
  if (!st)
    st = options_read_pairs(options, &labels, notes);
  if (!st) {
    out->labels = labels.pairs;
    out->label_count = labels.count;
    out->labels_cleaned = labels.cleaned;
  } else {
    sp_label_list_dispose(&labels);
  }
  return st;
}

static spanprof_status options_read_identity(sp_settings *out,
                                             const sp_option_values *values,
                                             const spanprof_options *options,
                                             char *const *environment,
                                             sp_buffer *notes) {
  sp_identity identity;
  spanprof_status st =
      sp_identity_read(&identity, out->mem, environment, notes);

  if (!st)
    st = options_read_name(out, values, &identity, environment);
  if (!st)
    st = options_read_labels(out, values, options, &identity, notes);
  sp_identity_dispose(&identity);
  return st;
}

static spanprof_status options_read_protocol(sp_settings *out,
                                             const sp_option_value *given) {
  char shown[SP_OPTION_SHOWN_BYTES];

  if (sp_option_is_empty(given) || strcmp(given->text, "push") == 0) {
    out->protocol = SP_PROTOCOL_PUSH;
    return SPANPROF_OK;
  }
  if (strcmp(given->text, "ingest") == 0) {
    out->protocol = SP_PROTOCOL_INGEST;
    return SPANPROF_OK;
  }
  sp_option_show(given->text, strlen(given->text), shown);
  return sp_option_refuse(given, "is \"%s\", not push or ingest", shown);
}

/* Accept 0, real-time signals, SIGPROF, SIGVTALRM, SIGUSR1 and SIGUSR2. All
 * other signals are refused, because they end or stop a process, or report an
 * error. */
static spanprof_status options_check_signal(const sp_option_value *given) {
  int64_t number = given->number;

  if (number != 0 && (number < SIGRTMIN || number > SIGRTMAX) &&
      number != SIGPROF && number != SIGVTALRM && number != SIGUSR1 &&
      number != SIGUSR2)
    return sp_option_refuse(given,
                            "is %d, not 0, %d to %d, SIGPROF, SIGVTALRM, "
                            "SIGUSR1 or SIGUSR2",
                            (int)number, SIGRTMIN, SIGRTMAX);
  return SPANPROF_OK;
}

static spanprof_status options_read_disk(sp_settings *out,
                                         const sp_option_values *values) {
  const sp_option_value *output = &values->output_directory;
  const sp_option_value *spool = &values->spool_directory;
  spanprof_status st = SPANPROF_OK;

  if (!sp_option_is_empty(output) && !sp_option_is_empty(spool) &&
      strcmp(output->text, spool->text) == 0)
    return sp_option_refuse(spool,
                            "is the same as output_directory; give another");
  if (!sp_option_is_empty(output))
    st = sp_option_directory_check(output, out->mem);
  if (!st && !sp_option_is_empty(spool))
    st = sp_option_directory_check(spool, out->mem);
  if (!st)
    st = sp_settings_copy(out->mem, output, &out->output_directory);
  if (!st)
    st = sp_settings_copy(out->mem, spool, &out->spool_directory);
  return st;
}

static void options_read_numbers(sp_settings *out,
                                 const sp_option_values *values) {
#define OPTIONS_READ(name, kind, ...)                          \
  SP_SETTING_##kind(out->name = (uint64_t)values->name.number, \
                    out->name = values->name.number != 0)
  SP_OPTION_LIST(OPTIONS_READ)
#undef OPTIONS_READ
}

static void options_read_callbacks(sp_settings *out,
                                   const sp_option_values *values,
                                   const spanprof_options *options) {
  if (options && SP_OPTION_REACHES(options, log))
    out->log = options->log;
  if (options && SP_OPTION_REACHES(options, log_data))
    out->log_data = options->log_data;
  if (options && SP_OPTION_REACHES(options, on_profile))
    out->on_profile = options->on_profile;
  if (options && SP_OPTION_REACHES(options, on_profile_data))
    out->on_profile_data = options->on_profile_data;
  if (values->log_level.number != SPANPROF_UNSET)
    out->log_level = (spanprof_log_level)values->log_level.number;
  else
    out->log_level = out->log ? SPANPROF_LOG_INFO : SPANPROF_LOG_WARN;
}

spanprof_status sp_settings_read(sp_settings *out, const sp_mem *mem,
                                 const spanprof_options *options,
                                 char *const *environment,
                                 struct sp_buffer *notes) {
  sp_option_values values;
  spanprof_status st = options_check_size(options);

  memset(out, 0, sizeof *out);
  out->mem = mem;
  if (!st)
    st = options_check_switch(environment);
  if (!st)
    st = sp_option_table_read(&values, options, environment, notes);
  if (!st)
    st = options_read_identity(out, &values, options, environment, notes);
  if (!st)
    st = sp_server_settings_read(out, &values, environment, notes);
  if (!st)
    st = options_read_protocol(out, &values.upload_protocol);
  if (!st)
    st = options_check_signal(&values.signal_number);
  if (!st)
    st = options_read_disk(out, &values);
  if (!st) {
    options_read_numbers(out, &values);
    options_read_callbacks(out, &values, options);
    sp_environment_note_unknown(environment, sp_option_table_knows, notes);
    if (sp_buffer_status(notes))
      st = sp_option_no_memory();
  }
  if (st)
    sp_settings_dispose(out);
  return st;
}

void sp_settings_dispose(sp_settings *settings) {
  const sp_mem *mem = settings->mem;
  size_t i;

  if (!mem)
    return;
  for (i = 0; i < settings->label_count; i++) {
    sp_mem_free(mem, settings->labels[i].name);
    sp_mem_free(mem, settings->labels[i].value);
  }
  sp_mem_free(mem, settings->labels);
  for (i = 0; i < settings->header_count; i++)
    sp_mem_free(mem, settings->headers[i]);
  sp_mem_free(mem, settings->headers);
  sp_mem_free(mem, settings->application_name);
  sp_mem_free(mem, settings->server_address);
  sp_mem_free(mem, settings->basic_auth_user);
  sp_mem_free(mem, settings->basic_auth_password);
  sp_mem_free(mem, settings->auth_token);
  sp_mem_free(mem, settings->tenant_id);
  sp_mem_free(mem, settings->ca_bundle);
  sp_mem_free(mem, settings->client_cert);
  sp_mem_free(mem, settings->client_key);
  sp_mem_free(mem, settings->proxy);
  sp_mem_free(mem, settings->no_proxy);
  sp_mem_free(mem, settings->output_directory);
  sp_mem_free(mem, settings->spool_directory);
  memset(settings, 0, sizeof *settings);
}

bool sp_settings_disabled(char *const *environment) {
  const char *text = sp_environment_get(environment, OPTIONS_SWITCH);
  bool on = true;

  return text && !sp_environment_switch(text, &on) && !on;
}

spanprof_status sp_settings_check_enabled(char *const *environment) {
  if (!sp_settings_disabled(environment))
    return SPANPROF_OK;
  return sp_fail(SPANPROF_ERR_DISABLED,
                 "profiling is off: PYROSCOPE_AGENT_ENABLED is false");
}

spanprof_status spanprof_options_check(const spanprof_options *options) {
  spanprof_status st = sp_settings_check_enabled(sp_environment_own());
  sp_settings settings;
  sp_buffer notes;
  int number;

  if (st)
    return st;
  sp_buffer_init(&notes, &sp_mem_default);
  st = sp_settings_read(&settings, &sp_mem_default, options,
                        sp_environment_own(), &notes);
  sp_buffer_dispose(&notes);
  if (st)
    return st;
  st = sp_signal_choose((int)settings.signal_number, &number);
  sp_settings_dispose(&settings);
  return st;
}
