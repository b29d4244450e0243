/* A client for one server, through libcurl. It sends one request at a time and
 * keeps the connection open between requests. Used by one thread, except
 * sp_http_client_limit() and sp_http_client_abort().
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

/* Time limit of a whole request: name lookup, connection, TLS, answer. */
#define SP_HTTP_REQUEST_NS (10 * SP_NS_PER_S)
#define SP_HTTP_QUERY_NS   (2 * SP_NS_PER_S)

typedef struct sp_http_client sp_http_client;

typedef struct sp_http_answer {
  long status;        /* 0: there was no complete answer */
  bool not_pyroscope; /* a 2xx that does not acknowledge the profile: it is from
                       * another program, such as a captive portal */
  bool links;         /* the server opens links to spans */
  bool aborted;       /* by sp_http_client_abort() or sp_http_client_limit() */
  bool retry_after_given;
  uint64_t retry_after_ns; /* from now */
  /* The server's message, or why there is no answer; may be "". */
  char message[SP_HTTP_MESSAGE_BYTES];
} sp_http_answer;

/* Create a client. `settings` and `clock` must outlive it. SPANPROF_ERR_IO: a
 * certificate or key file cannot be read; the error names it.
 * SPANPROF_ERR_SYSTEM: libcurl cannot be used. SPANPROF_ERR_NOMEM. */
spanprof_status sp_http_client_new(sp_http_client **out, const sp_mem *mem,
                                   const sp_settings *settings,
                                   const sp_clock *clock);
void sp_http_client_free(sp_http_client *client); /* may be NULL */

/* Send the request and wait for the answer. */
void sp_http_client_post(sp_http_client *client, const sp_http_request *request,
                         sp_http_answer *answer);

/* Get a page within SP_HTTP_QUERY_NS. The answer is optional: a limit ends the
 * request immediately. */
void sp_http_client_get(sp_http_client *client, const char *url,
                        sp_http_answer *answer);

/* A request for a large answer, and its limits. */
typedef struct sp_http_fetch {
  const char *url;
  const char *type; /* the media type of the expected answer */
  size_t bytes_max;
  uint64_t time_max_ns;
} sp_http_fetch;

/* Get a large answer. `body` is the received body, whatever the status; its old
 * content is discarded. A 2xx of another media type sets `not_pyroscope`. */
void sp_http_client_fetch(sp_http_client *client, const sp_http_fetch *fetch,
                          sp_buffer *body, sp_http_answer *answer);

/* End the running request and later ones by `until_ns` of the clock's monotonic
 * time. Any thread. */
void sp_http_client_limit(sp_http_client *client, uint64_t until_ns);

/* End the running request and every later one immediately. Any thread. The
 * client does not use the clock any more, because it may have been freed. */
void sp_http_client_abort(sp_http_client *client);

/* In a forked child: give up a client whose connection belongs to the parent.
 * Closes the child's copies of its descriptors, which does not affect the
 * parent. Leaks the remaining resources, which stay reachable for leak
 * checkers. */
void sp_http_client_abandon(sp_http_client *client);

#endif
