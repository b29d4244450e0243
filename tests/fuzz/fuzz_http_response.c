/* Reads the input as a server's answer: header lines up to an empty line, then
 * a body. */
#include "export/http/http_answer.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "util/text/utf8.h"

/* The time of the answer: 1 January 2026. */
#define FUZZ_UNIX_NS (UINT64_C(1767225600) * SP_NS_PER_S)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Check a property that every answer must have. */
static void fuzz_must(bool promise) {
  if (!promise)
    abort();
}

static void fuzz_header(const char *line, size_t size) {
  uint64_t retry_after_ns = 0;
  const char *value;
  size_t value_size;

  if (!sp_http_header_value(line, size, "Retry-After", &value, &value_size))
    return;
  fuzz_must(value >= line && value + value_size <= line + size);
  if (sp_http_retry_after(value, value_size, FUZZ_UNIX_NS, &retry_after_ns))
    fuzz_must(retry_after_ns <= UINT64_C(366) * 24 * 3600 * SP_NS_PER_S);
}

static void fuzz_body(const char *body, size_t size) {
  char message[SP_HTTP_MESSAGE_BYTES];
  size_t length, i;

  memset(message, 'x', sizeof message);
  sp_http_message(body, size, message);
  length = strnlen(message, sizeof message);
  fuzz_must(length < sizeof message);
  fuzz_must(sp_utf8_valid(message, length));
  for (i = 0; i < length; i++)
    fuzz_must((unsigned char)message[i] >= 0x20);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const char *text = (const char *)data, *end;

  while (size && (end = memchr(text, '\n', size)) != NULL) {
    size_t line = (size_t)(end - text) + 1;

    fuzz_header(text, line);
    text += line;
    size -= line;
    if (line <= 2)
      break;
  }
  fuzz_body(text, size);
  return 0;
}
