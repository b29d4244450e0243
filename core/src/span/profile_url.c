#include "profile_url.h"

#include <string.h>
#include <strings.h>

#include "util/system/status.h"
#include "util/text/ascii.h"
#include "util/text/utf8.h"

/* The links have the form of pyroscope-otel (lib/pyroscope/otel.rb): parameters
 * in this order, form-encoded as by URI.encode_www_form, times in seconds.
 * Comparisons have the form that they had before pyroscope-otel 0.1.0, with the
 * path /comparison-diff of otel-profiling-go v0.4.0 and otel-profiling-java
 * v0.10.3. */

#define URL_CPU ".cpu"

static void url_parameter(sp_buffer *out, const char *name, const char *value,
                          size_t bytes) {
  sp_buffer_text(out, name);
  sp_buffer_text(out, "=");
  sp_buffer_form_encode(out, value, bytes);
}

static void url_time(sp_buffer *out, const char *name, int64_t seconds) {
  sp_buffer_text(out, "&");
  sp_buffer_text(out, name);
  sp_buffer_text(out, "=");
  sp_buffer_number(out, seconds);
}

/* Append a label of a query. Quotes and backslashes are escaped as in the
 * selectors of Prometheus, because FlameQL has their syntax. */
static void url_label(sp_buffer *out, const sp_pair *pair, bool *first) {
  const char *p;

  sp_buffer_text(out, *first ? "" : ",");
  sp_buffer_text(out, pair->name);
  sp_buffer_text(out, "=\"");
  for (p = pair->value; *p; p++) {
    if (*p == '"' || *p == '\\')
      sp_buffer_append(out, "\\", 1);
    sp_buffer_append(out, p, 1);
  }
  sp_buffer_text(out, "\"");
  *first = false;
}

static bool url_labels_have(const sp_url_labels *labels, const char *name) {
  size_t i;

  for (i = 0; i < labels->count; i++)
    if (strcmp(labels->pairs[i].name, name) == 0)
      return true;
  return false;
}

static void url_app(sp_buffer *out, const char *application_name) {
  sp_buffer_append(out, application_name,
                   sp_profile_url_app_bytes(application_name));
  sp_buffer_text(out, URL_CPU);
}

static void url_baseline_query(sp_buffer *out, const sp_url_place *place) {
  bool first = true;
  size_t i;

  url_app(out, place->application_name);
  sp_buffer_text(out, "{");
  for (i = 0; i < place->labels->count; i++)
    if (!url_labels_have(place->baseline, place->labels->pairs[i].name))
      url_label(out, &place->labels->pairs[i], &first);
  for (i = 0; i < place->baseline->count; i++)
    url_label(out, &place->baseline->pairs[i], &first);
  sp_buffer_text(out, "}");
}

size_t sp_profile_url_app_bytes(const char *application_name) {
  size_t bytes = strlen(application_name);
  size_t suffix = sizeof URL_CPU - 1;

  return bytes >= suffix &&
                 strcmp(application_name + bytes - suffix, URL_CPU) == 0
             ? bytes - suffix
             : bytes;
}

void sp_profile_url_query(sp_buffer *out, const char *application_name,
                          const char *profile_id) {
  url_app(out, application_name);
  sp_buffer_text(out, "{profile_id=\"");
  sp_buffer_text(out, profile_id);
  sp_buffer_text(out, "\"}");
}

void sp_profile_url_span(sp_buffer *out, const sp_url_place *place,
                         const char *profile_id, int64_t now_s) {
  /* Append the query of sp_profile_url_query(), encoded while it is written.
   * This saves time, because this function runs for every root span. */
  sp_buffer_text(out, place->server_address);
  sp_buffer_text(out, "?query=");
  sp_buffer_form_encode(out, place->application_name,
                        sp_profile_url_app_bytes(place->application_name));
  sp_buffer_text(out, URL_CPU "%7Bprofile_id%3D%22");
  sp_buffer_text(out, profile_id);
  sp_buffer_text(out, "%22%7D");
  url_time(out, "from", now_s);
  url_time(out, "until", now_s + SP_URL_WINDOW_S);
}

void sp_profile_url_compare(sp_buffer *out, const sp_url_place *place,
                            const char *path, const char *profile_id,
                            int64_t now_s) {
  size_t bytes = strlen(place->server_address);
  sp_buffer left, right;

  sp_buffer_init(&left, out->mem);
  sp_buffer_init(&right, out->mem);
  url_baseline_query(&left, place);
  sp_profile_url_query(&right, place->application_name, profile_id);
  while (bytes > 0 && place->server_address[bytes - 1] == '/')
    bytes--;
  sp_buffer_append(out, place->server_address, bytes);
  sp_buffer_text(out, path);
  url_parameter(out, "?query", left.data, left.size);
  url_time(out, "from", now_s - SP_URL_WINDOW_S);
  url_time(out, "until", now_s);
  url_parameter(out, "&leftQuery", left.data, left.size);
  url_time(out, "leftFrom", now_s - SP_URL_WINDOW_S);
  url_time(out, "leftUntil", now_s);
  url_parameter(out, "&rightQuery", right.data, right.size);
  url_time(out, "rightFrom", now_s);
  url_time(out, "rightUntil", now_s + SP_URL_WINDOW_S);
  out->failed |= left.failed || right.failed;
  sp_buffer_dispose(&left);
  sp_buffer_dispose(&right);
}

spanprof_status sp_profile_url_server(const char *address, const sp_mem *mem,
                                      char **out) {
  const char *authority = strstr(address, "://");
  const char *end, *host, *p;
  size_t scheme, size;

  *out = NULL;
  scheme = authority ? (size_t)(authority - address) : 0;
  if (!((scheme == 4 && strncasecmp(address, "http", 4) == 0) ||
        (scheme == 5 && strncasecmp(address, "https", 5) == 0)))
    return sp_fail(SPANPROF_ERR_ARGUMENT,
                   "server_address does not begin with http:// or https://");
  authority += 3;
  end = authority + strcspn(authority, "/?#");
  /* The credentials end at the last @ of the authority, as curl reads them. */
  for (host = p = authority; p < end; p++)
    if (*p == '@')
      host = p + 1;
  if (host == end)
    return sp_fail(SPANPROF_ERR_ARGUMENT, "server_address has no host");
  end += strcspn(end, "?#");
  for (p = host; p < end; p++)
    if (*p == ' ' || sp_ascii_control(*p))
      return sp_fail(SPANPROF_ERR_ARGUMENT,
                     "server_address has a space or control character");
  if (!sp_utf8_valid(host, (size_t)(end - host)))
    return sp_fail(SPANPROF_ERR_ARGUMENT, "server_address is not UTF-8");
  size = scheme + 3 + (size_t)(end - host);
  *out = sp_mem_new(mem, size + 1);
  if (!*out)
    return sp_fail(SPANPROF_ERR_NOMEM, "no memory for server_address");
  memcpy(*out, scheme == 4 ? "http://" : "https://", scheme + 3);
  memcpy(*out + scheme + 3, host, (size_t)(end - host));
  (*out)[size] = '\0';
  return SPANPROF_OK;
}
