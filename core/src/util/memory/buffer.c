#include "buffer.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "util/text/ascii.h"

void sp_buffer_init(sp_buffer *buffer, const sp_mem *mem) {
  memset(buffer, 0, sizeof *buffer);
  buffer->mem = mem;
}

void sp_buffer_dispose(sp_buffer *buffer) {
  sp_mem_free(buffer->mem, buffer->data);
  sp_buffer_init(buffer, buffer->mem);
}

void sp_buffer_clear(sp_buffer *buffer) {
  buffer->size = 0;
  buffer->failed = false;
}

bool sp_buffer_reserve(sp_buffer *buffer, size_t more) {
  if (buffer->failed || more > SIZE_MAX - buffer->size - 1 ||
      (buffer->size_max && more > buffer->size_max - buffer->size))
    buffer->failed = true;
  else if (sp_mem_reserve(buffer->mem, (void **)&buffer->data,
                          &buffer->capacity, buffer->size + more + 1, 1))
    buffer->failed = true;
  return !buffer->failed;
}

void sp_buffer_append(sp_buffer *buffer, const void *bytes, size_t size) {
  if (!sp_buffer_reserve(buffer, size))
    return;
  if (size)
    memcpy(buffer->data + buffer->size, bytes, size);
  buffer->size += size;
  buffer->data[buffer->size] = '\0';
}

void sp_buffer_text(sp_buffer *buffer, const char *text) {
  sp_buffer_append(buffer, text, strlen(text));
}

void sp_buffer_format(sp_buffer *buffer, const char *format, ...) {
  va_list arguments;
  int needed;

  va_start(arguments, format);
  needed = vsnprintf(NULL, 0, format, arguments);
  va_end(arguments);
  if (needed < 0 || !sp_buffer_reserve(buffer, (size_t)needed))
    return;
  va_start(arguments, format);
  vsnprintf(buffer->data + buffer->size, (size_t)needed + 1, format, arguments);
  va_end(arguments);
  buffer->size += (size_t)needed;
}

void sp_buffer_number(sp_buffer *buffer, int64_t number) {
  char digits[20]; /* digits of INT64_MIN and the sign */
  char *p = digits + sizeof digits;
  uint64_t remaining = number < 0 ? -(uint64_t)number : (uint64_t)number;

  do {
    *--p = (char)('0' + remaining % 10);
    remaining /= 10;
  } while (remaining);
  if (number < 0)
    *--p = '-';
  sp_buffer_append(buffer, p, (size_t)(digits + sizeof digits - p));
}

static void buffer_percent(sp_buffer *buffer, unsigned char byte) {
  static const char hex[] = "0123456789ABCDEF";
  char encoded[3] = {'%', hex[byte >> 4], hex[byte & 15]};

  sp_buffer_append(buffer, encoded, sizeof encoded);
}

void sp_buffer_encode(sp_buffer *buffer, const char *text, size_t size,
                      bool (*plain)(char c), const char *space) {
  size_t done = 0, i;

  for (i = 0; i < size; i++) {
    if (plain(text[i]))
      continue;
    sp_buffer_append(buffer, text + done, i - done);
    done = i + 1;
    if (text[i] == ' ' && space)
      sp_buffer_text(buffer, space);
    else
      buffer_percent(buffer, (unsigned char)text[i]);
  }
  if (size)
    sp_buffer_append(buffer, text + done, size - done);
}

static bool form_plain(char c) {
  return sp_ascii_word(c) || c == '*' || c == '-' || c == '.' || c == '_';
}

void sp_buffer_form_encode(sp_buffer *buffer, const char *text, size_t size) {
  sp_buffer_encode(buffer, text, size, form_plain, "+");
}

void sp_buffer_base64(sp_buffer *buffer, const void *bytes, size_t size) {
  static const char digits[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const unsigned char *p = bytes;
  size_t i, j;

  for (i = 0; i < size; i += 3) {
    const size_t left = sp_min_u64(size - i, 3);
    uint32_t bits = 0;
    char group[4];

    for (j = 0; j < 3; j++)
      bits = bits << 8 | (j < left ? p[i + j] : 0u);
    for (j = 0; j < sizeof group; j++)
      group[j] = j <= left ? digits[bits >> (18 - 6 * j) & 63] : '=';
    sp_buffer_append(buffer, group, sizeof group);
  }
}

char *sp_buffer_detach(sp_buffer *buffer, size_t *size) {
  char *data = NULL;

  *size = 0;
  if (!buffer->failed && sp_buffer_reserve(buffer, 0)) {
    data = buffer->data;
    data[buffer->size] = '\0';
    *size = buffer->size;
    buffer->data = NULL;
  }
  sp_buffer_dispose(buffer);
  return data;
}

spanprof_status sp_buffer_status(const sp_buffer *buffer) {
  return buffer->failed ? SPANPROF_ERR_NOMEM : SPANPROF_OK;
}
