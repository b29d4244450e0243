#include "server_address.h"

#include <curl/curl.h>
#include <string.h>
#include <strings.h>

/* Copy a part of `url`, or set *out to NULL if the URL does not have it. */
static CURLUcode address_part(CURLU *url, CURLUPart part, unsigned flags,
                              CURLUcode none, const sp_mem *mem, char **out) {
  char *text = NULL;
  CURLUcode code = curl_url_get(url, part, &text, flags);

  *out = NULL;
  if (code == none)
    return CURLUE_OK;
  if (code == CURLUE_OK) {
    *out = sp_mem_text(mem, text, strlen(text));
    curl_free(text);
    if (!*out)
      return CURLUE_OUT_OF_MEMORY;
  }
  return code;
}

static spanprof_status address_refuse(const sp_option_value *given,
                                      CURLUcode code) {
  switch (code) {
  case CURLUE_OUT_OF_MEMORY:
    return sp_option_no_memory();
  case CURLUE_BAD_PORT_NUMBER:
    return sp_option_refuse(given, "has a bad port, not 1 to 65535");
  case CURLUE_NO_HOST:
    return sp_option_refuse(given, "has no host");
  case CURLUE_URLDECODE:
    return sp_option_refuse(given, "has bad percent-encoding before the @");
  default:
    return sp_option_refuse(given, "is not a valid URL");
  }
}

/* Accept only http and https URLs. For any other URL, the message shows it up
 * to the first character that may belong to a secret. */
static spanprof_status address_check_scheme(const sp_option_value *given) {
  const char *text = given->text;
  char shown[SP_OPTION_SHOWN_BYTES];

  if (strncasecmp(text, "http://", 7) == 0 ||
      strncasecmp(text, "https://", 8) == 0)
    return SPANPROF_OK;
  if (strchr(text, '@'))
    return sp_option_refuse(given, "does not start with http:// or https://");
  sp_option_show(text, strcspn(text, "?#"), shown);
  return sp_option_refuse(
      given, "is \"%s\", which does not start with http:// or https://", shown);
}

static bool address_has(CURLU *url, CURLUPart part) {
  char *text = NULL;
  bool has = curl_url_get(url, part, &text, 0) == CURLUE_OK;

  curl_free(text);
  return has;
}

static void address_strip_slashes(char *url) {
  size_t length = strlen(url);

  while (length && url[length - 1] == '/')
    url[--length] = '\0';
}

/* Fill `out` from a parsed URL. */
static spanprof_status address_fill(sp_server_address *out, CURLU *url,
                                    const sp_option_value *given) {
  CURLUcode code = address_part(url, CURLUPART_USER, CURLU_URLDECODE,
                                CURLUE_NO_USER, out->mem, &out->user);

  if (code == CURLUE_OK)
    code = address_part(url, CURLUPART_PASSWORD, CURLU_URLDECODE,
                        CURLUE_NO_PASSWORD, out->mem, &out->password);
  if (code != CURLUE_OK)
    return address_refuse(given, code);
  if (address_has(url, CURLUPART_QUERY) || address_has(url, CURLUPART_FRAGMENT))
    return sp_option_refuse(given,
                            "has a ? or # part; give the base address alone");
  if (out->user && !out->password)
    return sp_option_refuse(given, "has a user but no password before the @");
  if (out->password && (!out->user || !*out->user))
    return sp_option_refuse(given, "has a password but no user before the @");
  code = curl_url_set(url, CURLUPART_USER, NULL, 0);
  if (code == CURLUE_OK)
    code = curl_url_set(url, CURLUPART_PASSWORD, NULL, 0);
  if (code == CURLUE_OK)
    code = address_part(url, CURLUPART_URL, 0, CURLUE_UNKNOWN_PART, out->mem,
                        &out->url);
  if (code != CURLUE_OK)
    return address_refuse(given, code);
  return SPANPROF_OK;
}

spanprof_status sp_server_address_parse(sp_server_address *out,
                                        const sp_mem *mem,
                                        const sp_option_value *given) {
  CURLU *url = NULL;
  CURLUcode code;
  spanprof_status st;

  memset(out, 0, sizeof *out);
  out->mem = mem;
  st = address_check_scheme(given);
  if (st)
    return st;
  url = curl_url();
  if (!url)
    return sp_option_no_memory();
  code = curl_url_set(url, CURLUPART_URL, given->text, 0);
  if (code != CURLUE_OK)
    st = address_refuse(given, code);
  else
    st = address_fill(out, url, given);
  curl_url_cleanup(url);
  if (st) {
    sp_server_address_dispose(out);
    return st;
  }
  address_strip_slashes(out->url);
  out->encrypted = strncmp(out->url, "https:", 6) == 0;
  return SPANPROF_OK;
}

void sp_server_address_dispose(sp_server_address *address) {
  sp_mem_free(address->mem, address->url);
  sp_mem_free(address->mem, address->user);
  sp_mem_free(address->mem, address->password);
  address->url = address->user = address->password = NULL;
}
