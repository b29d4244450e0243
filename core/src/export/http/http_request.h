/* A request to the server, and its headers. */
#ifndef SP_HTTP_REQUEST_H
#define SP_HTTP_REQUEST_H

#include <curl/curl.h>

#include "credentials.h"
#include "settings/settings.h"

typedef struct sp_http_request {
  const char *url;
  const char *content_type;
  const char *content_encoding; /* may be NULL */
  const void *body;
  size_t size;
  uint64_t time_max_ns; /* 0: SP_HTTP_REQUEST_NS applies */
  /* The media type of an answer that acknowledges the profile. NULL: the answer
   * has no body. */
  const char *accepted_type;
} sp_http_request;

/* Return a list of the headers of the settings, the credentials and the
 * request, or NULL if out of memory. The caller frees the list by
 * curl_slist_free_all(). */
struct curl_slist *sp_http_request_headers(const sp_settings *settings,
                                           const sp_credentials *credentials,
                                           const sp_http_request *request,
                                           const sp_mem *mem);

#endif
