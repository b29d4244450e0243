#include "check_grafana.h"

#include <string.h>

#include "profile/profile.h"
#include "settings/environment.h"
#include "settings/identity.h"
#include "settings/option_value.h"

#define CHECK_OWN_VARIABLE "PYROSCOPE_APPLICATION_NAME"

/* The profile type in Pyroscope's form: the metric, then type and unit of the
 * values, then type and unit of the period. */
#define CHECK_VALUE_TYPE SP_PROFILE_TYPE ":" SP_PROFILE_UNIT
#define CHECK_PROFILE_TYPE \
  SP_PROFILE_METRIC ":" CHECK_VALUE_TYPE ":" CHECK_VALUE_TYPE

/* The printable form of a text, for a message. */
typedef struct check_shown {
  char text[SP_OPTION_SHOWN_BYTES];
} check_shown;

static check_shown check_show(const char *text) {
  check_shown shown;

  sp_option_show(text, strlen(text), shown.text);
  return shown;
}

/* Print whether profiles and spans have the same service name. `profiles` is
 * the name of profiles, or NULL. `spans` is the tracer's service name and the
 * variable that sets it. `overridden` is the name in OTEL_RESOURCE_ATTRIBUTES
 * if that is not `spans`, or NULL. */
static void check_print_names(sp_check_list *list, const char *profiles,
                              const sp_option_value *spans,
                              const char *overridden) {
  if (profiles && spans->text && strcmp(profiles, spans->text) != 0)
    sp_check_print(list, SP_CHECK_FAILED, "service",
                   "profiles have the service name \"%s\" (" CHECK_OWN_VARIABLE
                   "), but spans have \"%s\" (%s), so Grafana finds no "
                   "profiles for spans: "
                   "use the same name, or unset " CHECK_OWN_VARIABLE,
                   check_show(profiles).text, check_show(spans->text).text,
                   spans->variable);
  else if (overridden && strcmp(overridden, spans->text) != 0)
    sp_check_print(list, SP_CHECK_SKIPPED, "service",
                   "the service name is \"%s\" (%s), not \"%s\" "
                   "(service.name of OTEL_RESOURCE_ATTRIBUTES)",
                   check_show(spans->text).text, spans->variable,
                   check_show(overridden).text);
  else if (spans->text)
    sp_check_print(list, SP_CHECK_OK, "service",
                   "profiles and spans have the service name \"%s\"",
                   check_show(spans->text).text);
  else if (profiles)
    sp_check_print(
        list, SP_CHECK_SKIPPED, "service",
        "profiles have the service name \"%s\"; give the spans the same name, "
        "in the program or with OTEL_SERVICE_NAME",
        check_show(profiles).text);
}

void sp_check_service_names(sp_check_list *list) {
  char *const *environment = list->io->environment;
  const char *profiles = sp_environment_get(environment, CHECK_OWN_VARIABLE);
  const char *overridden;
  sp_option_value spans = {0};
  sp_identity identity;
  sp_buffer notes;

  sp_buffer_init(&notes, list->io->mem);
  if (sp_identity_read(&identity, list->io->mem, environment, &notes) ==
      SPANPROF_OK) {
    sp_identity_service_name(&identity, environment, &spans);
    overridden = sp_identity_attribute(&identity, "service.name");
    check_print_names(list, profiles, &spans,
                      overridden && *overridden ? overridden : NULL);
  }
  sp_identity_dispose(&identity);
  sp_buffer_dispose(&notes);
}

/* Write a YAML string. Grafana replaces $NAME by a variable of its own
 * environment (https://grafana.com/docs/grafana/latest/administration/
 * provisioning/, "Using environment variables"), so `$` is doubled. */
static void yaml_text(FILE *out, const char *key, const char *text) {
  fprintf(out, "%s: \"", key);
  for (; *text; text++) {
    if (*text == '"' || *text == '\\')
      fputc('\\', out);
    if (*text == '$')
      fputc('$', out);
    fputc(*text, out);
  }
  fputs("\"\n", out);
}

static bool check_has_label(const sp_settings *settings, const char *name) {
  size_t i;

  for (i = 0; i < settings->label_count; i++)
    if (strcmp(settings->labels[i].name, name) == 0)
      return true;
  return false;
}

static void print_pyroscope(FILE *out, const sp_settings *settings) {
  const char *secret =
      settings->auth_token ? "Bearer $PYROSCOPE_AUTH_TOKEN" : NULL;
  int header = 0;

  fputs("  - name: Pyroscope\n"
        "    uid: pyroscope\n"
        "    type: grafana-pyroscope-datasource\n"
        "    access: proxy\n",
        out);
  yaml_text(out, "    url", settings->server_address);
  if (settings->basic_auth_user) {
    fputs("    basicAuth: true\n", out);
    yaml_text(out, "    basicAuthUser", settings->basic_auth_user);
  }
  if (secret || settings->tenant_id)
    fputs("    jsonData:\n", out);
  if (secret)
    fprintf(out, "      httpHeaderName%d: Authorization\n", ++header);
  if (settings->tenant_id)
    fprintf(out, "      httpHeaderName%d: X-Scope-OrgID\n", ++header);
  if (settings->basic_auth_user || header)
    fputs("    secureJsonData:\n", out);
  if (settings->basic_auth_user)
    fputs("      basicAuthPassword: $PYROSCOPE_BASIC_AUTH_PASSWORD\n", out);
  header = 0;
  if (secret)
    fprintf(out, "      httpHeaderValue%d: %s\n", ++header, secret);
  if (settings->tenant_id)
    fprintf(out, "      httpHeaderValue%d: $PYROSCOPE_TENANT_ID\n", ++header);
}

static void print_tempo(FILE *out, const sp_settings *settings) {
  fputs("  - name: Tempo\n"
        "    uid: tempo\n"
        "    type: tempo\n"
        "    access: proxy\n"
        "    url: http://tempo:3200 # the server of your traces\n"
        "    jsonData:\n"
        "      tracesToProfiles:\n"
        "        datasourceUid: pyroscope\n"
        "        profileTypeId: " CHECK_PROFILE_TYPE "\n"
        "        tags:\n"
        "          - { key: service.name, value: service_name }\n",
        out);
  if (check_has_label(settings, "service_namespace"))
    fputs("          - { key: service.namespace, value: service_namespace }\n",
          out);
}

void sp_check_print_data_sources(const sp_check_list *list,
                                 const sp_settings *settings) {
  FILE *out = list->io->out;

  if (!settings->server_address)
    return;
  fputs("\n# Grafana reads this from provisioning/datasources/spans.yaml. It "
        "links "
        "spans to profiles.\n"
        "apiVersion: 1\n"
        "datasources:\n",
        out);
  print_pyroscope(out, settings);
  print_tempo(out, settings);
}
