#include "scrape_transfer.h"

#include <stdio.h>
#include <string.h>

#include "scrape_access.h"
#include "util/system/status.h"
#include "util/text/utf8.h"

#define TRANSFER_CONNECT_MS 8000L
/* Most bytes of a target's answer that a message contains, with the NUL. */
#define TRANSFER_TEXT_SIZE 120

void sp_scrape_transfer_init(sp_scrape_transfer *transfer, const sp_mem *mem) {
  memset(transfer, 0, sizeof *transfer);
  sp_buffer_init(&transfer->body, mem);
}

static size_t transfer_on_body(char *bytes, size_t one, size_t size,
                               void *data) {
  sp_scrape_transfer *transfer = data;

  (void)one;
  transfer->large |= size > SP_SCRAPE_BODY_MAX - transfer->body.size;
  if (transfer->large)
    return 0;
  sp_buffer_append(&transfer->body, bytes, size);
  return transfer->body.failed ? 0 : size;
}

static size_t transfer_on_header(char *line, size_t one, size_t size,
                                 void *data) {
  sp_scrape_transfer *transfer = data;

  (void)line;
  (void)one;
  transfer->large |= size > SP_SCRAPE_HEADER_MAX - transfer->header_bytes;
  transfer->header_bytes += size;
  return transfer->large ? 0 : size;
}

/* Read a secret from its file again, because it may have been renewed. Returns
 * `known`, the secret that was read at the start, if there is no file or it
 * cannot be read. */
static const char *transfer_secret(const char *file, const char *known,
                                   char read[SP_SCRAPE_SECRET_BYTES]) {
  return file && !sp_scrape_secret(file, read) ? read : known;
}

static CURLcode transfer_access(sp_scrape_transfer *transfer,
                                const sp_scrape_access *access) {
  CURL *easy = transfer->easy;
  CURLcode code = CURLE_OK;
  char secret[SP_SCRAPE_SECRET_BYTES];

#define TRANSFER_SET(option, value) \
  code = code ? code : curl_easy_setopt(easy, CURLOPT_##option, value)
  if (access->user) {
    TRANSFER_SET(HTTPAUTH, (long)CURLAUTH_BASIC);
    TRANSFER_SET(USERNAME,
                 transfer_secret(access->user_file, access->user, secret));
    TRANSFER_SET(PASSWORD, transfer_secret(access->password_file,
                                           access->password, secret));
  } else if (access->bearer) {
    TRANSFER_SET(HTTPAUTH, (long)CURLAUTH_BEARER);
    TRANSFER_SET(XOAUTH2_BEARER,
                 transfer_secret(access->bearer_file, access->bearer, secret));
  }
  TRANSFER_SET(SSL_VERIFYPEER, access->trusts_any ? 0L : 1L);
  TRANSFER_SET(SSL_VERIFYHOST, access->trusts_any ? 0L : 2L);
  if (access->ca_file)
    TRANSFER_SET(CAINFO, access->ca_file);
  if (access->cert_file)
    TRANSFER_SET(SSLCERT, access->cert_file);
  if (access->key_file)
    TRANSFER_SET(SSLKEY, access->key_file);
  return code;
}

static CURLcode transfer_configure(sp_scrape_transfer *transfer,
                                   const sp_scrape_probe *probe, void *owner) {
  CURL *easy = transfer->easy;
  CURLcode code = transfer_access(transfer, &probe->access);

  TRANSFER_SET(URL, probe->url);
  TRANSFER_SET(NOSIGNAL, 1L);
  /* Do not follow redirects, with which a target could make this server send
   * the password to another address. */
  TRANSFER_SET(FOLLOWLOCATION, 0L);
#if LIBCURL_VERSION_NUM >= 0x075500
  TRANSFER_SET(PROTOCOLS_STR, "http,https");
#else
  TRANSFER_SET(PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
  TRANSFER_SET(HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
  TRANSFER_SET(USERAGENT, "spanprof/" SPANPROF_VERSION);
  /* An empty text prevents libcurl from using the environment's proxies. */
  TRANSFER_SET(PROXY, "");
  TRANSFER_SET(CONNECTTIMEOUT_MS, TRANSFER_CONNECT_MS);
  TRANSFER_SET(TIMEOUT_MS, (long)(probe->timeout_ns / SP_NS_PER_MS));
  TRANSFER_SET(ERRORBUFFER, transfer->reason);
  TRANSFER_SET(WRITEFUNCTION, transfer_on_body);
  TRANSFER_SET(WRITEDATA, transfer);
  TRANSFER_SET(HEADERFUNCTION, transfer_on_header);
  TRANSFER_SET(HEADERDATA, transfer);
  TRANSFER_SET(PRIVATE, owner);
#if LIBCURL_VERSION_NUM >= 0x075700
  /* Without QUICK_EXIT, the end of a request waits for a name lookup that
   * hangs. */
  TRANSFER_SET(QUICK_EXIT, 1L);
#endif
#undef TRANSFER_SET
  return code;
}

spanprof_status sp_scrape_transfer_begin(sp_scrape_transfer *transfer,
                                         const sp_scrape_probe *probe,
                                         CURLM *multi, void *owner) {
  CURLcode code;

  transfer->reason[0] = '\0';
  transfer->large = false;
  transfer->header_bytes = 0;
  transfer->easy = curl_easy_init();
  if (!transfer->easy)
    return sp_fail(SPANPROF_ERR_NOMEM, "no memory for a request");
  code = transfer_configure(transfer, probe, owner);
  if (!code && !curl_multi_add_handle(multi, transfer->easy))
    return SPANPROF_OK;
  curl_easy_cleanup(transfer->easy);
  transfer->easy = NULL;
  return sp_fail(SPANPROF_ERR_IO, "the request cannot be made: %s",
                 code ? curl_easy_strerror(code) : "no memory");
}

/* Set `out` to the first line of the answer, without control characters. */
static void transfer_text(const sp_scrape_transfer *transfer, char *out) {
  const sp_buffer *body = &transfer->body;
  size_t size = 0;

  while (size < body->size && body->data[size] != '\n' &&
         body->data[size] != '\r')
    size++;
  size = sp_utf8_printable(body->data, size, out, TRANSFER_TEXT_SIZE - 1);
  out[size] = '\0';
}

spanprof_status sp_scrape_transfer_result(sp_scrape_transfer *transfer,
                                          CURLcode code, bool *absent,
                                          char error[SP_SCRAPE_ERROR_SIZE]) {
  char text[TRANSFER_TEXT_SIZE] = "";
  long status = 0;

  curl_easy_getinfo(transfer->easy, CURLINFO_RESPONSE_CODE, &status);
  *absent = !code && status == 404;
  if (transfer->large)
    snprintf(error, SP_SCRAPE_ERROR_SIZE,
             "the answer is larger than %zu MiB, or its headers than %zu KiB",
             SP_SCRAPE_BODY_MAX >> 20, SP_SCRAPE_HEADER_MAX >> 10);
  else if (code)
    snprintf(error, SP_SCRAPE_ERROR_SIZE, "%s",
             transfer->reason[0] ? transfer->reason : curl_easy_strerror(code));
  else if (status >= 300 && status < 400)
    snprintf(error, SP_SCRAPE_ERROR_SIZE,
             "the target answered %ld, a redirect, which is not followed: "
             "scrape the URL to which it leads",
             status);
  else if (status != 200) {
    transfer_text(transfer, text);
    snprintf(error, SP_SCRAPE_ERROR_SIZE, "the target answered %ld%s%s", status,
             text[0] ? ": " : "", text);
  } else
    return SPANPROF_OK;
  return SPANPROF_ERR_IO;
}

void sp_scrape_transfer_end(sp_scrape_transfer *transfer, CURLM *multi) {
  if (transfer->easy) {
    curl_multi_remove_handle(multi, transfer->easy);
    curl_easy_cleanup(transfer->easy);
    transfer->easy = NULL;
  }
  sp_buffer_dispose(&transfer->body);
}
