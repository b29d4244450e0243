#include "http_request.h"

#include <string.h>

#include "util/memory/buffer.h"

/* Append a header. libcurl needs "Name;" for a header with an empty value. */
static bool request_header(struct curl_slist **list, sp_buffer *line,
                           const char *name, const char *value) {
  struct curl_slist *longer;

  if (!value)
    return true;
  sp_buffer_clear(line);
  if (*value)
    sp_buffer_format(line, "%s: %s", name, value);
  else
    sp_buffer_format(line, "%s;", name);
  longer = line->failed ? NULL : curl_slist_append(*list, line->data);
  if (longer)
    *list = longer;
  return longer != NULL;
}

static bool request_header_line(struct curl_slist **list, sp_buffer *line,
                                const char *text) {
  const char *colon = strchr(text, ':');
  char name[128];
  size_t size = colon ? (size_t)(colon - text) : sizeof name;
  struct curl_slist *longer;

  /* Only a header with an empty value needs the form "Name;". */
  if (colon && !colon[1 + strspn(colon + 1, " \t")] && size < sizeof name) {
    memcpy(name, text, size);
    name[size] = '\0';
    return request_header(list, line, name, "");
  }
  longer = curl_slist_append(*list, text);
  if (longer)
    *list = longer;
  return longer != NULL;
}

struct curl_slist *sp_http_request_headers(const sp_settings *settings,
                                           const sp_credentials *credentials,
                                           const sp_http_request *request,
                                           const sp_mem *mem) {
  /* Remove "Expect: 100-continue", which libcurl adds for longer bodies. It
   * would only delay the request, because Pyroscope sends neither a 100 nor a
   * refusal before it has the whole body (as recorded with 3fe6a457a). */
  struct curl_slist *list = curl_slist_append(NULL, "Expect:");
  bool done = list != NULL;
  sp_buffer line;
  size_t i;

  sp_buffer_init(&line, mem);
  done = done &&
         request_header(&list, &line, "Content-Type", request->content_type) &&
         request_header(&list, &line, "Content-Encoding",
                        request->content_encoding) &&
         request_header(&list, &line, "X-Scope-OrgID", settings->tenant_id);
  if (credentials->authorization)
    done =
        done && request_header_line(&list, &line, credentials->authorization);
  for (i = 0; i < settings->header_count; i++)
    done = done && request_header_line(&list, &line, settings->headers[i]);
  sp_buffer_dispose(&line);
  if (done)
    return list;
  curl_slist_free_all(list);
  return NULL;
}
