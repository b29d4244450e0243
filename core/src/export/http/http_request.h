/* A request to the server, and the headers that go with it. */
#ifndef SP_HTTP_REQUEST_H
#define SP_HTTP_REQUEST_H

#include <curl/curl.h>

#include "credentials.h"
#include "settings/settings.h"

typedef struct sp_http_request {
  const char *url;
  const char *content_type;
  const char *content_encoding; /* NULL: none */
  const void *body;
  size_t size;
  uint64_t time_max_ns; /* 0: SP_HTTP_REQUEST_NS */
  /* What an acceptance is: its media type, NULL: one without a body. */
  const char *accepted_type;
} sp_http_request;

/* The headers of the settings, the credentials and the request, which the
 * caller frees (curl_slist_free_all()). NULL: no memory. */
struct curl_slist *sp_http_request_headers(const sp_settings *settings,
                                           const sp_credentials *credentials,
                                           const sp_http_request *request,
                                           const sp_mem *mem);

#endif
