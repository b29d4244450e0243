/* Reads parts of an HTTP answer. All input comes from an unknown server and is
 * not trusted. */
#ifndef SP_HTTP_ANSWER_H
#define SP_HTTP_ANSWER_H

#include <curl/curl.h>

#include "util/base.h"

#define SP_HTTP_MESSAGE_BYTES 256

/* Read the value of a Retry-After header, which has `size` bytes: seconds, or
 * an HTTP-date (RFC 9110, 10.2.3). *out_ns is the time to wait after `unix_ns`,
 * or 0 for a date in the past. Returns false if the value is neither seconds
 * nor a date. */
bool sp_http_retry_after(const char *value, size_t size, uint64_t unix_ns,
                         uint64_t *out_ns);

/* Is `line` of `size` bytes the header `name`? If so, *value is the header's
 * value without surrounding spaces. */
bool sp_http_header_value(const char *line, size_t size, const char *name,
                          const char **value, size_t *value_size);

/* Is `value`, the value of a Content-Type header, of the media type `type`?
 * Parameters are ignored. */
bool sp_http_media_type_is(const char *value, const char *type);

/* Extract one printable line from the body of an answer: "code: message" of a
 * Connect error (https://connectrpc.com/docs/protocol, "Error end-stream"), the
 * "detail" of a problem (RFC 9457), or the first line of the body. `out` always
 * ends with NUL. It is "" if the body has no text. */
void sp_http_message(const char *body, size_t size,
                     char out[SP_HTTP_MESSAGE_BYTES]);

/* Write a text that says why there is no answer. `detail` is libcurl's message.
 */
void sp_http_failure(CURLcode code, const char *detail,
                     char out[SP_HTTP_MESSAGE_BYTES]);

#endif
