/* A growing byte buffer. After an append has failed, all further appends fail,
 * so callers check the status once, at the end. */
#ifndef SP_BUFFER_H
#define SP_BUFFER_H

#include "mem.h"

typedef struct sp_buffer {
  const sp_mem *mem;
  char *data; /* NUL-terminated if `size` > 0 */
  size_t size;
  size_t capacity;
  size_t size_max; /* appends beyond this size fail; 0: no limit */
  bool failed;
} sp_buffer;

void sp_buffer_init(sp_buffer *buffer, const sp_mem *mem);
void sp_buffer_dispose(sp_buffer *buffer);
void sp_buffer_clear(sp_buffer *buffer); /* keeps the memory allocated */

/* Reserve capacity for `more` further bytes. Returns false if this or an
 * earlier append failed. */
bool sp_buffer_reserve(sp_buffer *buffer, size_t more);

void sp_buffer_append(sp_buffer *buffer, const void *bytes, size_t size);
void sp_buffer_text(sp_buffer *buffer, const char *text);
void sp_buffer_format(sp_buffer *buffer, const char *format, ...)
    SP_PRINTF(2, 3);

/* Append a decimal number. This is ten times as fast as sp_buffer_format(). */
void sp_buffer_number(sp_buffer *buffer, int64_t number);

/* Append a text. Percent-encode ("%2F") each byte for which `plain` returns
 * false. If `space` is not NULL, it replaces each blank. */
void sp_buffer_encode(sp_buffer *buffer, const char *text, size_t size,
                      bool (*plain)(char c), const char *space);

/* Append a text, percent-encoded as application/x-www-form-urlencoded (a space
 * becomes `+`). [A-Za-z0-9*-._] are not encoded, as in the URL standard of the
 * WHATWG and Ruby's URI.encode_www_form_component. */
void sp_buffer_form_encode(sp_buffer *buffer, const char *text, size_t size);

/* Append the bytes as base64 (RFC 4648, 4). */
void sp_buffer_base64(sp_buffer *buffer, const void *bytes, size_t size);

/* Transfer the bytes to the caller and empty the buffer. Returns NULL if an
 * append failed. */
char *sp_buffer_detach(sp_buffer *buffer, size_t *size);

/* Returns SPANPROF_ERR_NOMEM if an append failed. */
spanprof_status sp_buffer_status(const sp_buffer *buffer);

#endif
