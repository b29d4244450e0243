#include "server_settings.h"

#include <string.h>

#include "http_headers.h"
#include "option_path.h"
#include "proxy_choice.h"
#include "server_address.h"

spanprof_status sp_settings_copy(const sp_mem *mem,
                                 const sp_option_value *given, char **out) {
  *out = NULL;
  if (sp_option_is_empty(given))
    return SPANPROF_OK;
  *out = sp_mem_text(mem, given->text, strlen(given->text));
  return *out ? SPANPROF_OK : sp_option_no_memory();
}

/* Check that there is at most one kind of credentials, and that it is complete.
 */
static spanprof_status
server_check_credentials(const sp_option_values *values,
                         const sp_server_address *address,
                         const sp_http_headers *headers) {
  bool user = !sp_option_is_empty(&values->basic_auth_user);
  bool password = !sp_option_is_empty(&values->basic_auth_password);
  bool token = !sp_option_is_empty(&values->auth_token);

  if (user && !password)
    return sp_option_refuse(&values->basic_auth_user,
                            "is given without basic_auth_password");
  if (password && !user)
    return sp_option_refuse(&values->basic_auth_password,
                            "is given without basic_auth_user");
  if (token && user)
    return sp_option_refuse(&values->auth_token,
                            "and basic_auth_user are both given; give one");
  if (token && address->user)
    return sp_option_refuse(
        &values->auth_token,
        "is given, and server_address contains a user and password; give one");
  if (user && address->user &&
      (strcmp(values->basic_auth_user.text, address->user) != 0 ||
       strcmp(values->basic_auth_password.text, address->password) != 0))
    return sp_option_refuse(&values->basic_auth_user,
                            "and basic_auth_password differ from the user and "
                            "password in server_address; give one");
  if ((user || token || address->user) &&
      sp_http_headers_have(headers, "Authorization"))
    return sp_option_refuse(
        &values->http_headers,
        "has Authorization in addition to other credentials; "
        "give one");
  return SPANPROF_OK;
}

/* Check that the user's name has no colon (RFC 7617, section 2). */
static spanprof_status server_check_user(const sp_option_value *given,
                                         const char *user) {
  if (user && strchr(user, ':'))
    return sp_option_refuse(given, "has a colon in the user's name");
  return SPANPROF_OK;
}

static spanprof_status server_read_credentials(sp_settings *out,
                                               const sp_option_values *values,
                                               sp_server_address *address,
                                               const sp_http_headers *headers) {
  const sp_option_value *user_given = &values->basic_auth_user;
  spanprof_status st = server_check_credentials(values, address, headers);

  if (!st)
    st = sp_settings_copy(out->mem, &values->basic_auth_user,
                          &out->basic_auth_user);
  if (!st)
    st = sp_settings_copy(out->mem, &values->basic_auth_password,
                          &out->basic_auth_password);
  if (!st)
    st = sp_settings_copy(out->mem, &values->auth_token, &out->auth_token);
  if (!st && address->user && !out->basic_auth_user) {
    user_given = &values->server_address;
    out->basic_auth_user = address->user;
    out->basic_auth_password = address->password;
    address->user = address->password = NULL;
  }
  if (!st)
    st = server_check_user(user_given, out->basic_auth_user);
  return st;
}

static spanprof_status server_read_headers(sp_settings *out,
                                           const sp_option_values *values,
                                           sp_http_headers *headers) {
  spanprof_status st =
      sp_settings_copy(out->mem, &values->tenant_id, &out->tenant_id);

  if (st)
    return st;
  if (out->tenant_id && sp_http_headers_have(headers, "X-Scope-OrgID"))
    return sp_option_refuse(
        &values->http_headers,
        "has X-Scope-OrgID in addition to tenant_id; give one");
  out->headers = headers->lines;
  out->header_count = headers->count;
  headers->lines = NULL;
  headers->count = headers->capacity = 0;
  return SPANPROF_OK;
}

static spanprof_status
server_read_file(const sp_mem *mem, const sp_option_value *given, char **out) {
  spanprof_status st = SPANPROF_OK;

  if (!sp_option_is_empty(given))
    st = sp_option_file_check(given);
  if (!st)
    st = sp_settings_copy(mem, given, out);
  return st;
}

static spanprof_status server_read_tls(sp_settings *out,
                                       const sp_option_values *values,
                                       bool encrypted) {
  sp_option_value ca_bundle = values->ca_bundle;
  spanprof_status st;

  /* SSL_CERT_FILE may be set for other programs, so it is ignored if the server
   * is not reached by TLS. */
  if (!encrypted && ca_bundle.variable &&
      strcmp(ca_bundle.variable, "SSL_CERT_FILE") == 0)
    ca_bundle.text = NULL;
  if (!sp_option_is_empty(&values->client_key) &&
      sp_option_is_empty(&values->client_cert))
    return sp_option_refuse(&values->client_key,
                            "is given without client_cert");
  st = server_read_file(out->mem, &ca_bundle, &out->ca_bundle);
  if (!st)
    st = server_read_file(out->mem, &values->client_cert, &out->client_cert);
  if (!st)
    st = server_read_file(out->mem, &values->client_key, &out->client_key);
  return st;
}

static spanprof_status
server_read_proxy(sp_settings *out, const sp_option_values *values,
                  bool encrypted, char *const *environment, sp_buffer *notes) {
  sp_option_value proxy = values->proxy, exceptions = values->no_proxy;
  spanprof_status st = SPANPROF_OK;

  if (out->server_address) {
    sp_proxy_choose(&proxy, encrypted, environment, notes);
    sp_proxy_choose_exceptions(&exceptions, environment);
  }
  if (!sp_option_is_empty(&proxy))
    st = sp_proxy_check(&proxy);
  if (!st)
    st = sp_settings_copy(out->mem, &proxy, &out->proxy);
  if (!st)
    st = sp_settings_copy(out->mem, &exceptions, &out->no_proxy);
  return st;
}

spanprof_status sp_server_settings_read(sp_settings *out,
                                        const sp_option_values *values,
                                        char *const *environment,
                                        sp_buffer *notes) {
  sp_server_address address = {.mem = out->mem};
  sp_http_headers headers = {.mem = out->mem};
  spanprof_status st = SPANPROF_OK;

  if (!sp_option_is_empty(&values->server_address))
    st = sp_server_address_parse(&address, out->mem, &values->server_address);
  if (!st && !sp_option_is_empty(&values->http_headers))
    st = sp_http_headers_parse(&headers, out->mem, &values->http_headers);
  if (!st)
    st = server_read_credentials(out, values, &address, &headers);
  if (!st)
    st = server_read_headers(out, values, &headers);
  if (!st) {
    out->server_address = address.url;
    address.url = NULL;
    st = server_read_tls(out, values, address.encrypted);
  }
  if (!st)
    st = server_read_proxy(out, values, address.encrypted, environment, notes);
  sp_server_address_dispose(&address);
  sp_http_headers_dispose(&headers);
  return st;
}
