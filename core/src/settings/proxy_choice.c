#include "proxy_choice.h"

#include <curl/curl.h>
#include <string.h>
#include <strings.h>

#include "environment.h"

/* The schemes that CURLOPT_PROXY accepts. */
static const char *const proxy_schemes[] = {
    "http", "https", "socks4", "socks4a", "socks5", "socks5h",
};

static bool proxy_try(sp_option_value *given, char *const *environment,
                      const char *variable) {
  const char *text = sp_environment_find(environment, variable);

  if (text) {
    given->text = text;
    given->variable = variable;
  }
  return text != NULL;
}

/* Read HTTP_PROXY, unless an HTTP request may have set it (proxy_choice.h). */
static bool proxy_try_upper_http(sp_option_value *given,
                                 char *const *environment, sp_buffer *notes) {
  if (!sp_environment_find(environment, "REQUEST_METHOD"))
    return proxy_try(given, environment, "HTTP_PROXY");
  if (sp_environment_get(environment, "HTTP_PROXY"))
    sp_buffer_text(notes, "HTTP_PROXY is ignored in a CGI program, where a "
                          "request can set it\n");
  return false;
}

void sp_proxy_choose(sp_option_value *given, bool encrypted,
                     char *const *environment, sp_buffer *notes) {
  bool found = given->text != NULL;

  if (!found && encrypted)
    found = proxy_try(given, environment, "https_proxy") ||
            proxy_try(given, environment, "HTTPS_PROXY");
  if (!found && !encrypted)
    found = proxy_try(given, environment, "http_proxy") ||
            proxy_try_upper_http(given, environment, notes);
  if (!found)
    found = proxy_try(given, environment, "all_proxy") ||
            proxy_try(given, environment, "ALL_PROXY");
}

static bool proxy_scheme_known(const char *scheme) {
  size_t i;

  for (i = 0; i < SP_COUNT_OF(proxy_schemes); i++) {
    if (strcasecmp(scheme, proxy_schemes[i]) == 0)
      return true;
  }
  return false;
}

static spanprof_status proxy_refuse(const sp_option_value *given,
                                    CURLUcode code) {
  if (code == CURLUE_OUT_OF_MEMORY)
    return sp_option_no_memory();
  return sp_option_refuse(given, "is not the URL of a proxy, such as "
                                 "http://proxy:3128");
}

spanprof_status sp_proxy_check(const sp_option_value *given) {
  CURLU *url = curl_url();
  char *scheme = NULL;
  CURLUcode code;
  bool good;

  if (!url)
    return sp_option_no_memory();
  code = curl_url_set(url, CURLUPART_URL, given->text,
                      CURLU_GUESS_SCHEME | CURLU_NON_SUPPORT_SCHEME);
  if (code == CURLUE_OK)
    code = curl_url_get(url, CURLUPART_SCHEME, &scheme, 0);
  good = code == CURLUE_OK &&
         (!strstr(given->text, "://") || proxy_scheme_known(scheme));
  curl_free(scheme);
  curl_url_cleanup(url);
  return good ? SPANPROF_OK : proxy_refuse(given, code);
}

void sp_proxy_choose_exceptions(sp_option_value *given,
                                char *const *environment) {
  if (!given->text && !proxy_try(given, environment, "no_proxy"))
    proxy_try(given, environment, "NO_PROXY");
}
