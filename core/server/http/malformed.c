#include "malformed.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

typedef struct malformed_counts {
  unsigned hosts;
  unsigned lengths;
  unsigned encodings;
} malformed_counts;

/* Returns whether the name of a header is a token of RFC 9110, 5.6.2. */
static bool malformed_is_name(const char *name) {
  const char *p;

  for (p = name; *p; p++)
    if (!isalnum((unsigned char)*p) && !strchr("!#$%&'*+-.^_`|~", *p))
      return false;
  return p > name;
}

static const char *malformed_sentence(const malformed_counts *counts,
                                      const char *version) {
  const bool is_old = strcmp(version, "HTTP/1.0") == 0;

  if (counts->hosts > 1)
    return "the request has two Host headers\n";
  if (!counts->hosts && !is_old)
    return "the request has no Host header\n";
  if (counts->lengths > 1)
    return "the request has two Content-Length headers\n";
  if (counts->encodings > 1)
    return "the request has two Transfer-Encoding headers\n";
  if (counts->lengths && counts->encodings)
    return "the request has both Content-Length and Transfer-Encoding\n";
  if (counts->encodings && is_old)
    return "an HTTP/1.0 request cannot have Transfer-Encoding\n";
  return NULL;
}

bool sp_http_refuse_malformed(const sp_http_request *request,
                              const char *version, sp_http_response *response) {
  malformed_counts counts = {0};
  const char *sentence = NULL;
  int status = 400;
  size_t i;

  for (i = 0; i < request->headers.count; i++) {
    const sp_text_pair *header = &request->headers.pairs[i];

    counts.hosts += strcasecmp(header->name, "Host") == 0;
    counts.lengths += strcasecmp(header->name, "Content-Length") == 0;
    if (!malformed_is_name(header->name)) {
      sentence = "the name of a header has an invalid character\n";
    } else if (strcasecmp(header->name, "Transfer-Encoding") == 0) {
      counts.encodings++;
      if (strcasecmp(header->value, "chunked") != 0)
        status = 501;
    }
  }
  if (!sentence)
    sentence = malformed_sentence(&counts, version);
  if (sentence)
    status = 400;
  else if (status == 501)
    sentence = "the only supported Transfer-Encoding is chunked\n";
  if (!sentence)
    return false;
  sp_http_answer(response, status, "text/plain", sentence);
  sp_http_set(response, "Connection", "close");
  return true;
}
