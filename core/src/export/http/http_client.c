#include "http_client.h"

#include <curl/curl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "client_sockets.h"
#include "client_work.h"
#include "credentials.h"
#include "http_request.h"
#include "util/memory/buffer.h"
#include "util/system/file.h"
#include "util/system/own_thread.h"
#include "util/system/sigpipe.h"
#include "util/system/status.h"

/* Time limit for a connection, including TLS. If the server has several
 * addresses, libcurl gives half of this time to the first address, and half of
 * the remaining time to each next one. So an address that drops packets leaves
 * time for the other addresses and for the answer. */
#define CLIENT_CONNECT_MS 8000L

/* Maximum size of the body of an answer that is stored, except for
 * sp_http_client_fetch(). No answer that the client uses is larger. */
#define CLIENT_BODY_BYTES (64 * 1024)

/* Longest single wait in libcurl, after which the clock is read again. Waits
 * are divided because in tests the clock may run faster than real time. */
#define CLIENT_SLICE_MS 50

struct sp_http_client {
  /* Fixed after sp_http_client_new(). */
  const sp_mem *mem;
  const sp_clock *clock;
  const sp_settings *settings;
  sp_credentials credentials;
  CURLM *multi;
  CURL *easy;
  sp_client_sockets sockets;
  /* May be set by any thread. */
  _Atomic bool aborted;
  _Atomic uint64_t until_ns;
  /* The state of the running request. */
  sp_buffer body;
  size_t body_max;
  uint64_t time_max_ns;
  bool body_cut;
  bool links;
  bool retry_after_given;
  uint64_t retry_after_ns;
  char error[CURL_ERROR_SIZE];
  /* The next client in the list of abandoned clients. */
  sp_http_client *next;
};

/* Process-wide, because libcurl's initialization is. */
static pthread_once_t client_once = PTHREAD_ONCE_INIT;
static CURLcode client_curl_state;

/* The list of abandoned clients. Process-wide, because they have no owner. The
 * list keeps them reachable for leak checkers. */
static sp_http_client *_Atomic client_abandoned;

static void client_curl_init(void) {
  sp_client_work_begin();
  client_curl_state = curl_global_init(CURL_GLOBAL_DEFAULT);
  sp_client_work_end();
}

static spanprof_status client_file_check(const char *option, const char *path) {
  int error = path ? sp_file_readable(path) : 0;

  return error ? sp_fail_errno(SPANPROF_ERR_IO, error, "%s %s cannot be read",
                               option, path)
               : SPANPROF_OK;
}

static size_t client_on_body(char *bytes, size_t one, size_t size, void *data) {
  sp_http_client *client = data;

  (void)one;
  if (size > client->body_max - client->body.size) {
    client->body_cut = true;
    return 0;
  }
  sp_buffer_append(&client->body, bytes, size);
  return size;
}

static size_t client_on_header(char *line, size_t one, size_t size,
                               void *data) {
  sp_http_client *client = data;
  const char *value;
  size_t value_size;

  (void)one;
  if (!atomic_load(&client->aborted) &&
      sp_http_header_value(line, size, "Retry-After", &value, &value_size))
    client->retry_after_given =
        sp_http_retry_after(value, value_size, sp_clock_unix_ns(client->clock),
                            &client->retry_after_ns);
  if (sp_http_header_value(line, size, "Spanprof-Links", &value, &value_size))
    client->links = value_size == 4 && memcmp(value, "span", 4) == 0;
  return size;
}

/* Set the options that are the same for every request. */
static CURLcode client_configure(sp_http_client *client) {
  const sp_settings *settings = client->settings;
  CURL *easy = client->easy;
  CURLcode code = CURLE_OK;

#define CLIENT_SET(option, value) \
  code = code ? code : curl_easy_setopt(easy, CURLOPT_##option, value)
  CLIENT_SET(NOSIGNAL, 1L);
  CLIENT_SET(FOLLOWLOCATION, 0L);
  CLIENT_SET(CONNECTTIMEOUT_MS, CLIENT_CONNECT_MS);
#if LIBCURL_VERSION_NUM >= 0x075500
  CLIENT_SET(PROTOCOLS_STR, "http,https");
#else
  CLIENT_SET(PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
  CLIENT_SET(HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
  CLIENT_SET(USERAGENT, "spanprof/" SPANPROF_VERSION);
  /* "" keeps libcurl from reading the proxy from the environment. */
  CLIENT_SET(PROXY, settings->proxy ? settings->proxy : "");
  CLIENT_SET(NOPROXY, settings->no_proxy ? settings->no_proxy : "");
  CLIENT_SET(SSL_VERIFYPEER, 1L);
  CLIENT_SET(SSL_VERIFYHOST, 2L);
  if (settings->ca_bundle) {
    CLIENT_SET(CAINFO, settings->ca_bundle);
    CLIENT_SET(CAPATH, NULL);
    /* A proxy that uses TLS is verified by the same file. */
    CLIENT_SET(PROXY_CAINFO, settings->ca_bundle);
    CLIENT_SET(PROXY_CAPATH, NULL);
  }
  if (settings->client_cert)
    CLIENT_SET(SSLCERT, settings->client_cert);
  if (settings->client_key)
    CLIENT_SET(SSLKEY, settings->client_key);
  CLIENT_SET(ERRORBUFFER, client->error);
  CLIENT_SET(WRITEFUNCTION, client_on_body);
  CLIENT_SET(WRITEDATA, client);
  CLIENT_SET(HEADERFUNCTION, client_on_header);
  CLIENT_SET(HEADERDATA, client);
#if LIBCURL_VERSION_NUM >= 0x075700
  /* Without this option, the end of a request waits for a name lookup that
   * hangs. Older versions of libcurl do not have the option; a thread that
   * hangs in such a libcurl is abandoned. */
  CLIENT_SET(QUICK_EXIT, 1L);
#endif
#undef CLIENT_SET
  code = code ? code : sp_client_sockets_watch(&client->sockets, easy);
  sp_client_sockets_find(&client->sockets, client->multi);
  return code;
}

spanprof_status sp_http_client_new(sp_http_client **out, const sp_mem *mem,
                                   const sp_settings *settings,
                                   const sp_clock *clock) {
  sp_http_client *client;
  CURLcode code = CURLE_OUT_OF_MEMORY;
  spanprof_status st;

  *out = NULL;
  st = client_file_check("ca_bundle", settings->ca_bundle);
  if (!st)
    st = client_file_check("client_cert", settings->client_cert);
  if (!st)
    st = client_file_check("client_key", settings->client_key);
  if (st)
    return st;
  pthread_once(&client_once, client_curl_init);
  if (client_curl_state != CURLE_OK)
    return sp_fail(SPANPROF_ERR_SYSTEM, "libcurl cannot be used: %s",
                   curl_easy_strerror(client_curl_state));
  client = sp_mem_zero(mem, sizeof *client);
  if (!client)
    return SPANPROF_ERR_NOMEM;
  client->mem = mem;
  client->clock = clock;
  client->settings = settings;
  atomic_store(&client->until_ns, UINT64_MAX);
  sp_buffer_init(&client->body, mem);
  st = sp_credentials_init(&client->credentials, mem, settings);
  if (!st) {
    client->multi = curl_multi_init();
    client->easy = curl_easy_init();
    if (client->multi && client->easy)
      code = client_configure(client);
    if (code == CURLE_OUT_OF_MEMORY)
      st = SPANPROF_ERR_NOMEM;
    else if (code != CURLE_OK)
      st = sp_fail(SPANPROF_ERR_SYSTEM, "libcurl cannot be used: %s",
                   curl_easy_strerror(code));
  }
  if (st) {
    sp_http_client_free(client);
    return st;
  }
  *out = client;
  return SPANPROF_OK;
}

void sp_http_client_free(sp_http_client *client) {
  sp_sigpipe pipe;

  if (!client)
    return;
  /* curl_easy_cleanup() may write a close_notify of TLS. */
  sp_sigpipe_block(&pipe);
  sp_client_work_begin();
  if (client->easy)
    curl_easy_cleanup(client->easy);
  if (client->multi)
    curl_multi_cleanup(client->multi);
  sp_client_work_end();
  sp_sigpipe_restore(&pipe);
  sp_buffer_dispose(&client->body);
  sp_credentials_dispose(&client->credentials);
  sp_mem_free(client->mem, client);
}

/* May the request continue? A request that is not `needed` ends as soon as
 * sp_http_client_limit() has set a limit, even before that time. */
static bool client_may_continue(sp_http_client *client, bool needed) {
  return !atomic_load(&client->aborted) &&
         (needed || atomic_load(&client->until_ns) == UINT64_MAX);
}

/* Wait until libcurl has work to do. Returns CURLE_ABORTED_BY_CALLBACK if the
 * request is aborted, and CURLE_OPERATION_TIMEDOUT if `limit_ns` has passed.
 * `aborted` is checked before the clock is read, because the clock may be freed
 * after an abort. */
static CURLcode client_wait(sp_http_client *client, uint64_t limit_ns) {
  uint64_t until_ns, now_ns, wait_ns;

  sp_own_thread_gate();
  if (atomic_load(&client->aborted))
    return CURLE_ABORTED_BY_CALLBACK;
  until_ns = atomic_load(&client->until_ns);
  now_ns = sp_clock_monotonic_ns(client->clock);
  if (now_ns >= until_ns)
    return CURLE_ABORTED_BY_CALLBACK;
  if (now_ns >= limit_ns)
    return CURLE_OPERATION_TIMEDOUT;
  wait_ns = sp_min_u64(limit_ns, until_ns) - now_ns;
  curl_multi_poll(client->multi, NULL, 0,
                  (int)sp_min_u64(CLIENT_SLICE_MS, wait_ns / SP_NS_PER_MS + 1),
                  NULL);
  sp_own_thread_gate();
  return CURLE_OK;
}

/* Run the request until it is complete. The caller has called
 * sp_client_work_begin(). */
static CURLcode client_run(sp_http_client *client, bool needed) {
  const uint64_t limit_ns =
      sp_clock_monotonic_ns(client->clock) + client->time_max_ns;
  int running = 1, left;

  while (client_may_continue(client, needed)) {
    CURLMcode code = curl_multi_perform(client->multi, &running);
    const CURLMsg *message = curl_multi_info_read(client->multi, &left);
    CURLcode waited;

    if (message)
      return message->data.result;
    if (code)
      return CURLE_FAILED_INIT;
    sp_client_work_end();
    waited = client_wait(client, limit_ns);
    sp_client_work_begin();
    if (waited)
      return waited;
  }
  return CURLE_ABORTED_BY_CALLBACK;
}

/* Write a text that says why there is no answer. */
static void client_explain(const sp_http_client *client, CURLcode code,
                           char out[SP_HTTP_MESSAGE_BYTES]) {
  const char *detail =
      client->error[0] ? client->error : curl_easy_strerror(code);
  char limit[64];

  if (code == CURLE_OPERATION_TIMEDOUT) {
    snprintf(limit, sizeof limit, "no answer within %" PRIu64 " s",
             client->time_max_ns / SP_NS_PER_S);
    detail = limit;
  } else if (client->body_cut) {
    detail = "the answer is too long";
  }
  sp_http_failure(code, detail, out);
}

/* Is the body of this answer, whose status is 2xx, the body that Pyroscope
 * sends for an accepted profile? */
static bool client_accepts(const sp_http_client *client,
                           const sp_http_request *request) {
  char *type = NULL;

  if (!request->accepted_type)
    return client->body.size == 0;
  curl_easy_getinfo(client->easy, CURLINFO_CONTENT_TYPE, &type);
  return type && sp_http_media_type_is(type, request->accepted_type);
}

/* Does the answer's body or libcurl's error text contain a credential?
 * answer->message repeats one of the two. */
static bool answer_has_credentials(const sp_http_client *client) {
  return sp_credentials_appear(&client->credentials, client->body.data,
                               client->body.size) ||
         sp_credentials_appear(&client->credentials, client->error,
                               strlen(client->error));
}

static void client_read_answer(sp_http_client *client,
                               const sp_http_request *request, CURLcode code,
                               sp_http_answer *answer) {
  long status = 0;
  bool not_pyroscope;

  answer->aborted = code == CURLE_ABORTED_BY_CALLBACK;
  if (answer->aborted)
    return;
  answer->links = client->links;
  curl_easy_getinfo(client->easy, CURLINFO_RESPONSE_CODE, &status);
  not_pyroscope =
      status >= 200 && status < 300 && !client_accepts(client, request);
  /* An answer that accepts the profile counts only if it has arrived
   * completely, because a profile that is sent twice does no harm, and a lost
   * profile does. A refusal counts as soon as its status line has arrived. A
   * page of another program counts even if it is too long to be stored. */
  if (code == CURLE_OK || status >= 300 ||
      (not_pyroscope && client->body_cut)) {
    answer->status = status;
    answer->retry_after_given = client->retry_after_given;
    answer->retry_after_ns = client->retry_after_ns;
    answer->not_pyroscope = not_pyroscope;
    if (!client->body.failed && client->body.size)
      sp_http_message(client->body.data, client->body.size, answer->message);
  } else {
    client_explain(client, code, answer->message);
  }
  if (answer_has_credentials(client))
    snprintf(answer->message, sizeof answer->message,
             "(a message with credentials, omitted)");
}

/* Send a request: a POST, or a GET if there is no body. */
static void client_send(sp_http_client *client, const sp_http_request *request,
                        bool needed, sp_http_answer *answer) {
  const bool post = request->body != NULL;
  struct curl_slist *headers = NULL;
  CURLcode code = CURLE_OUT_OF_MEMORY;
  CURL *easy = client->easy;
  sp_sigpipe pipe;

  memset(answer, 0, sizeof *answer);
  sp_buffer_clear(&client->body);
  client->body_cut = false;
  client->links = false;
  client->retry_after_given = false;
  client->error[0] = '\0';
  headers = sp_http_request_headers(client->settings, &client->credentials,
                                    request, client->mem);
  if (headers && !curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers) &&
      !curl_easy_setopt(easy, CURLOPT_URL, request->url) &&
      !curl_easy_setopt(easy, post ? CURLOPT_POST : CURLOPT_HTTPGET, 1L) &&
      (!post || (!curl_easy_setopt(easy, CURLOPT_POSTFIELDS, request->body) &&
                 !curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE,
                                   (curl_off_t)request->size))) &&
      !curl_multi_add_handle(client->multi, easy)) {
    /* SIGPIPE must be blocked: with CURLOPT_NOSIGNAL, libcurl does not ignore
     * it, and older TLS libraries use write(). The thread may be a thread of
     * the program, so its signal mask is restored later. */
    sp_sigpipe_block(&pipe);
    sp_client_work_begin();
    code = client_run(client, needed);
    curl_multi_remove_handle(client->multi, easy);
    sp_client_work_end();
    sp_sigpipe_restore(&pipe);
  }
  client_read_answer(client, request, code, answer);
  curl_easy_setopt(easy, CURLOPT_HTTPHEADER, NULL);
  curl_easy_setopt(easy, CURLOPT_POSTFIELDS, NULL);
  curl_slist_free_all(headers);
}

void sp_http_client_post(sp_http_client *client, const sp_http_request *request,
                         sp_http_answer *answer) {
  client->body_max = CLIENT_BODY_BYTES;
  client->time_max_ns =
      request->time_max_ns ? request->time_max_ns : SP_HTTP_REQUEST_NS;
  client_send(client, request, true, answer);
}

void sp_http_client_get(sp_http_client *client, const char *url,
                        sp_http_answer *answer) {
  const sp_http_request request = {.url = url};

  client->body_max = CLIENT_BODY_BYTES;
  client->time_max_ns = SP_HTTP_QUERY_NS;
  client_send(client, &request, false, answer);
}

void sp_http_client_fetch(sp_http_client *client, const sp_http_fetch *fetch,
                          sp_buffer *body, sp_http_answer *answer) {
  const sp_http_request request = {.url = fetch->url,
                                   .accepted_type = fetch->type};
  sp_buffer before = *body;

  client->body_max = fetch->bytes_max;
  client->time_max_ns = fetch->time_max_ns;
  client_send(client, &request, true, answer);
  *body = client->body;
  client->body = before;
}

void sp_http_client_limit(sp_http_client *client, uint64_t until_ns) {
  atomic_store(&client->until_ns, until_ns);
  curl_multi_wakeup(client->multi);
}

void sp_http_client_abort(sp_http_client *client) {
  atomic_store(&client->aborted, true);
  curl_multi_wakeup(client->multi);
}

void sp_http_client_abandon(sp_http_client *client) {
  sp_client_sockets_close(&client->sockets);
  client->next = atomic_load(&client_abandoned);
  while (
      !atomic_compare_exchange_weak(&client_abandoned, &client->next, client))
    ;
}
