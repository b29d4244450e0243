/* An HTTP client for one server, by libcurl. It sends one request at a time and
 * keeps the connection open between requests. Only one thread at a time may use
 * a client, except for sp_http_client_limit() and sp_http_client_abort().
 *
 * All configuration comes from the settings, none from the environment. TLS
 * certificates are verified, redirects are not followed, and no message
 * contains credentials. */
#ifndef SP_HTTP_CLIENT_H
#define SP_HTTP_CLIENT_H

#include "http_answer.h"
#include "http_request.h"
#include "settings/settings.h"
#include "util/memory/buffer.h"
#include "util/system/clock.h"

/* Time limit of a whole request, with name lookup, connection, TLS and answer.
 */
#define SP_HTTP_REQUEST_NS (10 * SP_NS_PER_S)
#define SP_HTTP_QUERY_NS   (2 * SP_NS_PER_S)

typedef struct sp_http_client sp_http_client;

typedef struct sp_http_answer {
  long status; /* 0: there was no complete answer */
  /* The status is 2xx, but the answer does not acknowledge the profile: it is
   * from another program, such as a captive portal. */
  bool not_pyroscope;
  bool links;   /* the server opens links to spans */
  bool aborted; /* by sp_http_client_abort() or a limit */
  bool retry_after_given;
  uint64_t retry_after_ns; /* time to wait from now on */
  /* The server's message, or the reason why there is no answer. May be "". */
  char message[SP_HTTP_MESSAGE_BYTES];
} sp_http_answer;

/* Create a client. `settings` and `clock` must outlive it. Returns
 * SPANPROF_ERR_IO if a certificate or key file cannot be read (the last error
 * names the file), SPANPROF_ERR_SYSTEM if libcurl cannot be used, or
 * SPANPROF_ERR_NOMEM. */
spanprof_status sp_http_client_new(sp_http_client **out, const sp_mem *mem,
                                   const sp_settings *settings,
                                   const sp_clock *clock);
void sp_http_client_free(sp_http_client *client); /* may be NULL */

/* Send a request and wait for the answer. */
void sp_http_client_post(sp_http_client *client, const sp_http_request *request,
                         sp_http_answer *answer);

/* Get a page within SP_HTTP_QUERY_NS. A call of sp_http_client_limit() ends
 * this request immediately, because nobody needs the answer. */
void sp_http_client_get(sp_http_client *client, const char *url,
                        sp_http_answer *answer);

/* A request for a large answer, with its limits of size and time. */
typedef struct sp_http_fetch {
  const char *url;
  const char *type; /* media type of the expected answer */
  size_t bytes_max;
  uint64_t time_max_ns;
} sp_http_fetch;

/* Get a large answer. `body` becomes the received body, whatever the status;
 * its old content is discarded. If the status is 2xx and the media type is
 * another one, `not_pyroscope` is set. */
void sp_http_client_fetch(sp_http_client *client, const sp_http_fetch *fetch,
                          sp_buffer *body, sp_http_answer *answer);

/* End the running request and later requests by `until_ns` of the clock's
 * monotonic time. Any thread may call this function. */
void sp_http_client_limit(sp_http_client *client, uint64_t until_ns);

/* End the running request and every later request immediately. Any thread may
 * call this function. The client does not use its clock any more, because the
 * clock may be freed. */
void sp_http_client_abort(sp_http_client *client);

/* Called in a forked child: give up a client whose connection belongs to the
 * parent. Closes the child's copies of the client's descriptors, which does not
 * affect the parent. The rest of the client is not freed, but stays reachable
 * for leak checkers. */
void sp_http_client_abandon(sp_http_client *client);

#endif
