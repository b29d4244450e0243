#include "check_server.h"

#include <string.h>
#include <strings.h>

#include "export/pyroscope.h"
#include "util/memory/buffer.h"

/* Returns whether the headers of the settings include Authorization. */
static bool check_has_authorization(const sp_settings *settings) {
  static const char name[] = "authorization:";
  size_t i;

  for (i = 0; i < settings->header_count; i++)
    if (strncasecmp(settings->headers[i], name, sizeof name - 1) == 0)
      return true;
  return false;
}

static const char *check_credentials_kind(const sp_settings *settings) {
  if (settings->basic_auth_user)
    return "basic auth";
  if (settings->auth_token)
    return "a bearer token";
  return check_has_authorization(settings) ? "the Authorization header"
                                           : "no credentials";
}

/* Returns whether the server refused the credentials. */
static bool check_is_refusal(long status) {
  return status == 401 || status == 403;
}

/* Returns whether the answer to an empty upload shows that the server accepts
 * profiles at this path. */
static bool check_is_pyroscope(const sp_settings *settings,
                               const sp_http_answer *answer) {
  return (answer->status == 200 && !answer->not_pyroscope) ||
         (settings->protocol == SP_PROTOCOL_PUSH && answer->status == 400 &&
          strstr(answer->message, "no profiles"));
}

static void check_print_transport(sp_check_list *list,
                                  const sp_settings *settings, bool answered) {
  const char *not_reached = answered ? "" : ", but the server did not answer";
  sp_check_state state = answered ? SP_CHECK_OK : SP_CHECK_SKIPPED;

  if (settings->proxy)
    sp_check_print(list, state, "proxy", "configured%s", not_reached);
  else
    sp_check_print(list, SP_CHECK_SKIPPED, "proxy", "none");
  if (strncmp(settings->server_address, "https:", 6) == 0)
    sp_check_print(list, state, "TLS", "%s%s%s",
                   settings->ca_bundle ? settings->ca_bundle
                                       : "the system's CA certificates",
                   settings->client_cert ? ", with a client certificate" : "",
                   not_reached);
  else
    sp_check_print(list, SP_CHECK_SKIPPED, "TLS",
                   "not used: with http, everything is sent unencrypted");
}

static void check_print_server(sp_check_list *list, const sp_settings *settings,
                               const sp_http_answer *answer) {
  const char *address = settings->server_address;
  const char *message = *answer->message ? answer->message : "no message";

  if (answer->status == 0)
    sp_check_print(list, SP_CHECK_FAILED, "server", "%s: %s", address, message);
  else if (check_is_pyroscope(settings, answer) ||
           check_is_refusal(answer->status))
    sp_check_print(list, SP_CHECK_OK, "server", "%s answers", address);
  else if (answer->not_pyroscope)
    sp_check_print(
        list, SP_CHECK_FAILED, "server",
        "%s answers %ld, but is not a Pyroscope server: the address may be "
        "wrong, or lead to a login page",
        address, answer->status);
  else if (answer->status >= 300 && answer->status < 400)
    sp_check_print(list, SP_CHECK_FAILED, "server",
                   "%s answers %ld, a redirect, which uploads do not follow: "
                   "use the new address",
                   address, answer->status);
  else if (answer->status == 404 || answer->status == 405)
    sp_check_print(
        list, SP_CHECK_FAILED, "server",
        "%s answers %ld: no Pyroscope server at this address or path", address,
        answer->status);
  else
    sp_check_print(list, SP_CHECK_FAILED, "server", "%s answers %ld: %s",
                   address, answer->status, message);
}

static void check_print_credentials(sp_check_list *list,
                                    const sp_settings *settings,
                                    const sp_http_answer *answer) {
  const char *kind = check_credentials_kind(settings);
  const char *tenant = settings->tenant_id ? ", with a tenant" : "";

  if (check_is_refusal(answer->status))
    sp_check_print(list, SP_CHECK_FAILED, "credentials",
                   "%s%s refused with status %ld: %s", kind, tenant,
                   answer->status,
                   *answer->message ? answer->message : "no message");
  else if (check_is_pyroscope(settings, answer))
    sp_check_print(list, SP_CHECK_OK, "credentials", "%s%s accepted", kind,
                   tenant);
  else
    sp_check_print(list, SP_CHECK_SKIPPED, "credentials",
                   "not tested: no Pyroscope server answered");
}

/* Send an empty upload. Returns SPANPROF_OK if the request was made;
 * answer->status is 0 if the server did not answer. After a failure, sets the
 * error message. */
static spanprof_status check_probe(const sp_mem *mem,
                                   const sp_settings *settings,
                                   sp_http_answer *answer) {
  const bool ingest = settings->protocol == SP_PROTOCOL_INGEST;
  sp_http_client *client = NULL;
  sp_http_request request = {.content_type = ingest ? "application/octet-stream"
                                                    : SP_PYROSCOPE_PUSH_TYPE,
                             .accepted_type =
                                 ingest ? NULL : SP_PYROSCOPE_PUSH_TYPE,
                             .body = ""};
  sp_buffer url;
  spanprof_status st;

  sp_buffer_init(&url, mem);
  sp_buffer_format(&url, "%s%s", settings->server_address,
                   ingest ? "/ingest?name=spanprof.check"
                          : "/push.v1.PusherService/Push");
  st = sp_buffer_status(&url);
  if (!st)
    st = sp_http_client_new(&client, mem, settings, sp_clock_system());
  if (!st) {
    request.url = url.data;
    memset(answer, 0, sizeof *answer);
    sp_http_client_post(client, &request, answer);
  }
  sp_http_client_free(client);
  sp_buffer_dispose(&url);
  return st;
}

void sp_check_server(sp_check_list *list, const sp_settings *settings) {
  sp_http_answer answer;

  if (!settings->server_address) {
    sp_check_print(list, SP_CHECK_SKIPPED, "server",
                   "none configured: profiles are not uploaded");
    return;
  }
  if (check_probe(list->io->mem, settings, &answer)) {
    sp_check_print(list, SP_CHECK_FAILED, "server", "%s",
                   spanprof_last_error());
    return;
  }
  check_print_server(list, settings, &answer);
  check_print_transport(list, settings, answer.status != 0);
  check_print_credentials(list, settings, &answer);
}
