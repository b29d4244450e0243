#include "connect_envelope.h"

#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "util/text/number.h"
#include "util/text/utf8.h"

#define ENVELOPE_TIMEOUT_DIGITS 10

int sp_connect_status(const char *code) {
  static const struct {
    const char *code;
    int status;
  } codes[] = {{"invalid_argument", 400}, {"not_found", 404},
               {"already_exists", 409},   {"resource_exhausted", 429},
               {"canceled", 499},         {"unimplemented", 501},
               {"unavailable", 503},      {"deadline_exceeded", 504}};
  size_t i;

  for (i = 0; i < SP_COUNT_OF(codes); i++)
    if (strcmp(codes[i].code, code) == 0)
      return codes[i].status;
  return 500;
}

static bool envelope_refuse(sp_connect_envelope *envelope, const char *code,
                            const char *format, ...) SP_PRINTF(3, 4);

static bool envelope_refuse(sp_connect_envelope *envelope, const char *code,
                            const char *format, ...) {
  va_list arguments;

  envelope->code = code;
  va_start(arguments, format);
  vsnprintf(envelope->message, sizeof envelope->message, format, arguments);
  va_end(arguments);
  return false;
}

/* Skip a word, in upper or lower case, and the blanks after it. Returns false
 * if the text does not begin with the word. */
static bool envelope_word(const char **at, const char *word) {
  const size_t size = strlen(word);

  if (strncasecmp(*at, word, size) != 0)
    return false;
  *at += size;
  *at += strspn(*at, " \t");
  return true;
}

/* Returns the supported media type, or NULL. Blanks may surround the semicolon,
 * and the value of a parameter may be quoted (RFC 9110, 8.3.1). */
static const char *envelope_type(const char *type) {
  if (envelope_word(&type, "application/proto"))
    return *type ? NULL : "application/proto";
  if (!envelope_word(&type, "application/json"))
    return NULL;
  if (!*type || (envelope_word(&type, ";") && !*type))
    return "application/json";
  if (!envelope_word(&type, "charset=") ||
      !(envelope_word(&type, "utf-8") || envelope_word(&type, "\"utf-8\"")))
    return NULL;
  return *type ? NULL : "application/json; charset=utf-8";
}

bool sp_connect_envelope_type(sp_connect_envelope *envelope,
                              const sp_http_request *request) {
  const char *type = sp_http_header(request, "Content-Type");

  memset(envelope, 0, sizeof *envelope);
  envelope->type = type ? envelope_type(type) : NULL;
  if (!envelope->type)
    return false;
  envelope->is_json = strcmp(envelope->type, "application/proto") != 0;
  return true;
}

/* Read Connect-Timeout-Ms. An empty header means no timeout; with 0
 * milliseconds, the deadline has passed already. */
static bool envelope_timeout(sp_connect_envelope *envelope, const char *text) {
  const size_t size = text ? strlen(text) : 0;

  if (size == 0)
    return true;
  if (size > ENVELOPE_TIMEOUT_DIGITS ||
      !sp_number_is(text, UINT64_MAX, &envelope->timeout_ms))
    return envelope_refuse(
        envelope, "invalid_argument",
        "Connect-Timeout-Ms is not a number of at most 10 digits");
  envelope->has_timeout = true;
  return envelope->timeout_ms || envelope_refuse(envelope, "deadline_exceeded",
                                                 "context deadline exceeded");
}

static bool envelope_body(sp_connect_envelope *envelope, sp_http_fault fault) {
  switch (fault) {
  case SP_HTTP_FAULT_NONE:
    return true;
  case SP_HTTP_FAULT_CUT:
    return envelope_refuse(envelope, "canceled", "unexpected EOF");
  case SP_HTTP_FAULT_TOO_LARGE:
    return envelope_refuse(envelope, "resource_exhausted",
                           "message size is larger than configured max");
  case SP_HTTP_FAULT_BUSY:
    break;
  }
  return envelope_refuse(envelope, "unavailable",
                         "too many bodies are under way, try again");
}

bool sp_connect_envelope_read(sp_connect_envelope *envelope,
                              const sp_http_request *request) {
  const char *version = sp_http_header(request, "Connect-Protocol-Version");
  const char *encoding = sp_http_header(request, "Content-Encoding");

  if (version && *version && strcmp(version, "1") != 0)
    return envelope_refuse(envelope, "invalid_argument",
                           "Connect-Protocol-Version must be \"1\": got \"%s\"",
                           version);
  envelope->is_gzip = encoding && strcmp(encoding, "gzip") == 0;
  if (!envelope->is_gzip && encoding && *encoding &&
      strcmp(encoding, "identity") != 0)
    return envelope_refuse(
        envelope, "unimplemented",
        "unknown compression \"%s\": supported encodings are gzip", encoding);
  return envelope_timeout(envelope,
                          sp_http_header(request, "Connect-Timeout-Ms")) &&
         envelope_body(envelope, request->fault);
}

void sp_connect_refuse_text(sp_buffer *out, const char *code,
                            const char *message) {
  const size_t size = strlen(message);
  char *clean = sp_mem_new(out->mem, size + 1);
  json_t *root;
  char *text;
  bool changed;

  if (clean) {
    clean[sp_utf8_clean(message, size, clean, size, &changed)] = '\0';
    root = json_pack("{s:s, s:s}", "code", code, "message", clean);
    text = root ? json_dumps(root, JSON_COMPACT) : NULL;
    sp_buffer_text(out, text ? text : "");
    free(text);
    json_decref(root);
  }
  sp_mem_free(out->mem, clean);
}

void sp_connect_refuse(sp_http_response *response, const char *code,
                       const char *message) {
  const sp_mem *mem = response->body.mem;

  /* Discard the partial output of the failed call, and the buffer's status. */
  sp_buffer_dispose(&response->body);
  sp_buffer_init(&response->body, mem);
  response->status = sp_connect_status(code);
  sp_http_set(response, "Accept-Encoding", "gzip");
  sp_http_set(response, "Content-Type", "application/json");
  sp_connect_refuse_text(&response->body, code, message);
}

void sp_connect_refuse_type(sp_http_response *response, const char *accepted) {
  sp_http_answer(response, 415, NULL, "");
  sp_http_set(response, "Accept-Post", accepted);
}
