#include "base_path.h"

#include <string.h>

#define BASE_PATH_BYTES_MAX 200

/* Returns whether the characters from `text` to `end` are a valid segment. */
static bool base_path_is_segment(const char *text, const char *end) {
  const size_t size = (size_t)(end - text);
  const size_t dots = strspn(text, ".");

  return size > 0 && (dots < size || size > 2) &&
         strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                      "0123456789-._~") >= size;
}

bool sp_base_path_is(const char *text) {
  const char *at, *end;

  if (*text != '/' || strlen(text) > BASE_PATH_BYTES_MAX)
    return false;
  for (at = text; *at; at = end) {
    end = at + 1 + strcspn(at + 1, "/");
    if (!base_path_is_segment(at + 1, end))
      return false;
  }
  return true;
}

const char *sp_base_path_strip(const char *base, const char *path) {
  const size_t size = base ? strlen(base) : 0;

  if (size && strncmp(path, base, size) == 0 &&
      (path[size] == '/' || !path[size]))
    return path + size;
  return path;
}

void sp_base_path_redirect(const char *base, const sp_http_request *request,
                           sp_http_response *response) {
  sp_buffer target;
  size_t i;

  sp_buffer_init(&target, response->body.mem);
  /* A relative address is right for any scheme and host of a proxy. */
  sp_buffer_format(&target, "%s/", strrchr(base, '/') + 1);
  for (i = 0; i < request->query.count; i++) {
    const sp_text_pair *pair = &request->query.pairs[i];

    sp_buffer_text(&target, i ? "&" : "?");
    sp_buffer_form_encode(&target, pair->name, strlen(pair->name));
    sp_buffer_text(&target, "=");
    sp_buffer_form_encode(&target, pair->value, strlen(pair->value));
  }
  sp_buffer_append(&target, "", 1);
  if (sp_buffer_status(&target)) {
    sp_http_answer(response, 503, "text/plain", "out of memory\n");
  } else {
    sp_http_answer(response, 307, NULL, "");
    sp_http_set(response, "Location", target.data);
  }
  sp_buffer_dispose(&target);
}
