#include "http_answer.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "util/text/json_string.h"
#include "util/text/number.h"
#include "util/text/utf8.h"

/* Longest time that a Retry-After header can ask for: a year. Longer times
 * would have no useful meaning. */
#define ANSWER_MAX_SECONDS (UINT64_C(365) * 24 * 3600)
#define ANSWER_DATE_BYTES  64
#define ANSWER_CODE_BYTES  64

/* The first byte of gzip data (ID1 in RFC 1952, 2.3.1). Pyroscope always
 * compresses answers to compressed requests. */
#define GZIP_MAGIC '\x1f'

static bool answer_space(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static void answer_trim(const char **text, size_t *size) {
  while (*size && answer_space(**text)) {
    (*text)++;
    (*size)--;
  }
  while (*size && answer_space((*text)[*size - 1]))
    (*size)--;
}

bool sp_http_header_value(const char *line, size_t size, const char *name,
                          const char **value, size_t *value_size) {
  size_t name_size = strlen(name);

  if (size <= name_size || line[name_size] != ':' ||
      strncasecmp(line, name, name_size) != 0)
    return false;
  *value = line + name_size + 1;
  *value_size = size - name_size - 1;
  answer_trim(value, value_size);
  return true;
}

bool sp_http_retry_after(const char *value, size_t size, uint64_t unix_ns,
                         uint64_t *out_ns) {
  char date[ANSWER_DATE_BYTES];
  const char *digits, *end;
  uint64_t seconds, now_s = unix_ns / SP_NS_PER_S;
  time_t then;

  answer_trim(&value, &size);
  digits = value;
  end = value + size;
  if (sp_number_read(&digits, end, &seconds) != SPANPROF_ERR_FORMAT &&
      digits == end) {
    *out_ns = sp_min_u64(seconds, ANSWER_MAX_SECONDS) * SP_NS_PER_S;
    return true;
  }
  if (size == 0 || size >= sizeof date || memchr(value, '\0', size))
    return false;
  memcpy(date, value, size);
  date[size] = '\0';
  then = curl_getdate(date, NULL);
  if (then < 0)
    return false;
  seconds = (uint64_t)then > now_s ? (uint64_t)then - now_s : 0;
  *out_ns = sp_min_u64(seconds, ANSWER_MAX_SECONDS) * SP_NS_PER_S;
  return true;
}

bool sp_http_media_type_is(const char *value, const char *type) {
  size_t size = strcspn(value, ";");

  answer_trim(&value, &size);
  return size == strlen(type) && strncasecmp(value, type, size) == 0;
}

/* Copy the JSON string whose content starts at `p`, after the opening quote, as
 * one line. */
static bool answer_json_string(const char *p, const char *end, char *out,
                               size_t capacity) {
  char character[SP_JSON_CHARACTER_BYTES];
  size_t used = 0, size;

  while (p < end && *p != '"') {
    size = sp_json_read(&p, end, character);
    if (!size)
      return false;
    if (size == 1 && answer_space(*character))
      *character = ' ';
    if (used + size < capacity) {
      memcpy(out + used, character, size);
      used += size;
    }
  }
  out[used] = '\0';
  return p < end;
}

/* Copy the string value of "key" in a flat JSON object. A key inside of a
 * string value is found, too. This does no harm, because the text is only shown
 * to people. */
static bool answer_json_member(const char *body, size_t size, const char *key,
                               char *out, size_t capacity) {
  const char *end = body + size;
  const char *p = memmem(body, size, key, strlen(key));

  if (!p)
    return false;
  for (p += strlen(key); p < end && answer_space(*p); p++)
    ;
  if (p == end || *p++ != ':')
    return false;
  for (; p < end && answer_space(*p); p++)
    ;
  return p < end && *p == '"' && answer_json_string(p + 1, end, out, capacity);
}

/* Truncate the text to one printable line. */
static void answer_clean(char *text) {
  size_t size = strcspn(text, "\r\n");

  while (size && answer_space(text[size - 1]))
    size--;
  size = sp_utf8_printable(text, size, text, SP_HTTP_MESSAGE_BYTES - 1);
  text[size] = '\0';
}

void sp_http_message(const char *body, size_t size,
                     char out[SP_HTTP_MESSAGE_BYTES]) {
  char code[ANSWER_CODE_BYTES], message[SP_HTTP_MESSAGE_BYTES];
  size_t used = 0;

  answer_trim(&body, &size);
  if (size && body[0] == '{' &&
      answer_json_member(body, size, "\"message\"", message, sizeof message)) {
    if (answer_json_member(body, size, "\"code\"", code, sizeof code)) {
      used = strlen(code);
      memcpy(out, code, used);
      memcpy(out + used, ": ", 2);
      used += 2;
    }
    body = message;
    size = strlen(message);
  } else if (size && body[0] == '{' &&
             answer_json_member(body, size, "\"detail\"", message,
                                sizeof message)) {
    body = message;
    size = strlen(message);
  } else if (size && body[0] == GZIP_MAGIC) {
    size = 0;
  }
  size = sp_min_u64(size, SP_HTTP_MESSAGE_BYTES - 1 - used);
  memcpy(out + used, body, size);
  out[used + size] = '\0';
  answer_clean(out);
}

void sp_http_failure(CURLcode code, const char *detail,
                     char out[SP_HTTP_MESSAGE_BYTES]) {
  static const struct {
    CURLcode code;
    const char *format;
  } reasons[] = {
      {CURLE_COULDNT_RESOLVE_HOST, "the server's name was not found: %s"},
      {CURLE_COULDNT_RESOLVE_PROXY, "the proxy's name was not found: %s"},
      {CURLE_COULDNT_CONNECT, "no connection: %s"},
      {CURLE_SSL_CACERT_BADFILE,
       "there are no CA certificates: install ca-certificates, or set "
       "ca_bundle (PYROSCOPE_CA_BUNDLE): %s"},
      {CURLE_PEER_FAILED_VERIFICATION,
       "the server's certificate is not trusted; set ca_bundle "
       "(PYROSCOPE_CA_BUNDLE) to trust another CA: %s"},
      {CURLE_SSL_CERTPROBLEM, "the client certificate cannot be used: %s"},
      {CURLE_SSL_CONNECT_ERROR, "TLS failed: %s"},
  };
  const char *format = "%s";
  size_t i;

  for (i = 0; i < SP_COUNT_OF(reasons); i++)
    if (reasons[i].code == code)
      format = reasons[i].format;
  snprintf(out, SP_HTTP_MESSAGE_BYTES, format, detail);
}
