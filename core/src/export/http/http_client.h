/* One connection to one server, through libcurl: requests, one at a time, kept
 * alive between them. Used by one thread; only sp_http_client_abort() is
 * for others.
 *
 * Everything comes from the settings, nothing from the environment. TLS is
 * verified, redirects are not followed, credentials stand in no message. */
#ifndef SP_HTTP_CLIENT_H
#define SP_HTTP_CLIENT_H

#include "http_answer.h"
#include "http_request.h"
#include "settings/settings.h"
#include "util/memory/buffer.h"
#include "util/system/clock.h"

/* A request in all: name lookup, connection, TLS, answer. */
#define SP_HTTP_REQUEST_NS (10 * SP_NS_PER_S)
#define SP_HTTP_QUERY_NS   (2 * SP_NS_PER_S)

typedef struct sp_http_client sp_http_client;

typedef struct sp_http_answer {
  long status;        /* 0: no whole answer came */
  bool not_pyroscope; /* a 2xx that is no acceptance: of something else than the
                       * server, as the page of a captive portal */
  bool links;         /* it says that it opens links to spans */
  bool aborted;       /* by sp_http_client_abort() or _limit() */
  bool retry_after_given;
  uint64_t retry_after_ns; /* from now */
  /* What the server says, or why there is no answer; may be "". */
  char message[SP_HTTP_MESSAGE_BYTES];
} sp_http_answer;

/* `settings` and `clock` outlive it. SPANPROF_ERR_IO: a certificate or key file
 * cannot be read, named in the error; SPANPROF_ERR_NOMEM; SPANPROF_ERR_SYSTEM:
 * libcurl cannot be used. */
spanprof_status sp_http_client_new(sp_http_client **out, const sp_mem *mem,
                                   const sp_settings *settings,
                                   const sp_clock *clock);
void sp_http_client_free(sp_http_client *client); /* NULL is fine */

/* Send and wait for the answer. */
void sp_http_client_post(sp_http_client *client, const sp_http_request *request,
                         sp_http_answer *answer);

/* Ask for a page, at most SP_HTTP_QUERY_NS. Nobody needs it: a limit ends it at
 * once. */
void sp_http_client_get(sp_http_client *client, const char *url,
                        sp_http_answer *answer);

/* What is asked for, and how much of it is waited for. */
typedef struct sp_http_fetch {
  const char *url;
  const char *type; /* the media type of the wanted answer */
  size_t bytes_max;
  uint64_t time_max_ns;
} sp_http_fetch;

/* Ask for something large. `body` is what came, whatever the status; what was
 * in it is gone. A 2xx of another type is `not_pyroscope`. */
void sp_http_client_fetch(sp_http_client *client, const sp_http_fetch *fetch,
                          sp_buffer *body, sp_http_answer *answer);

/* From any thread: the running request and later ones end by `until_ns` of the
 * clock's monotonic time. */
void sp_http_client_limit(sp_http_client *client, uint64_t until_ns);

/* From any thread: end the running request, and every later one at once. The
 * clock is not asked again, as it may be gone. */
void sp_http_client_abort(sp_http_client *client);

/* In a forked child: give up a client whose connection is the parent's. Closes
 * its descriptors here, which the parent does not notice, and leaks the rest,
 * which stays reachable for leak checkers. */
void sp_http_client_abandon(sp_http_client *client);

#endif
