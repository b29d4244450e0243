#include <string.h>
#include <strings.h>

#include "http.h"

#define RESPONSE_PACKED_MIN 4096

void sp_http_set(sp_http_response *response, const char *name,
                 const char *value) {
  const sp_mem *mem = response->body.mem;
  size_t i;
  char *copy, *name_copy;

  copy = sp_mem_text(mem, value, strlen(value));
  if (!copy)
    return;
  for (i = 0; i < response->header_count; i++) {
    if (strcasecmp(response->headers[i].name, name) == 0) {
      sp_mem_free(mem, (char *)response->headers[i].value);
      response->headers[i].value = copy;
      return;
    }
  }
  name_copy = response->header_count < SP_HTTP_HEADERS_MAX
                  ? sp_mem_text(mem, name, strlen(name))
                  : NULL;
  if (!name_copy) {
    sp_mem_free(mem, copy);
    return;
  }
  response->headers[response->header_count++] =
      (sp_text_pair){.name = name_copy, .value = copy};
}

void sp_http_pack(const sp_http_request *request, sp_http_response *response) {
  sp_http_set(response, "Vary", "Accept-Encoding");
  if (response->body.size >= RESPONSE_PACKED_MIN &&
      sp_http_accepts_gzip(request))
    response->gzip = true;
}

void sp_http_answer(sp_http_response *response, int status, const char *type,
                    const char *text) {
  response->status = status;
  sp_buffer_clear(&response->body);
  sp_buffer_text(&response->body, text);
  if (type)
    sp_http_set(response, "Content-Type", type);
}
