/* What an HTTP answer says beside its status. Everything here reads bytes of
 * whoever answered, so nothing of it is trusted. */
#ifndef SP_HTTP_ANSWER_H
#define SP_HTTP_ANSWER_H

#include <curl/curl.h>

#include "util/base.h"

#define SP_HTTP_MESSAGE_BYTES 256

/* The value of a Retry-After header, `size` bytes: seconds or an HTTP-date
 * (RFC 9110, 10.2.3), as nanoseconds from `unix_ns`; 0 for a date that is
 * past. False: neither. */
bool sp_http_retry_after(const char *value, size_t size, uint64_t unix_ns,
                         uint64_t *out_ns);

/* If `line` of `size` bytes is the header `name`, its value without the spaces
 * around it. */
bool sp_http_header_value(const char *line, size_t size, const char *name,
                          const char **value, size_t *value_size);

/* Is `value`, a Content-Type, of this media type, parameters aside? */
bool sp_http_media_type_is(const char *value, const char *type);

/* One printable line out of an answer's body: "code: message" of a Connect
 * error (https://connectrpc.com/docs/protocol, "Error end-stream"), the detail
 * of a problem (RFC 9457), else the body's first line. `out` is always
 * terminated, "" where there is nothing to say. */
void sp_http_message(const char *body, size_t size,
                     char out[SP_HTTP_MESSAGE_BYTES]);

/* Why there is none, in a sentence; `detail` is libcurl's. */
void sp_http_failure(CURLcode code, const char *detail,
                     char out[SP_HTTP_MESSAGE_BYTES]);

#endif
