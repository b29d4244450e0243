#include "report_server.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "command/report/measure.h"
#include "command/shared/command_client.h"
#include "util/system/clock.h"
#include "util/system/status.h"
#include "util/text/number.h"

#define SERVER_HOUR_NS (3600 * SP_NS_PER_S)

/* Time limit for an answer. It is longer than 5 minutes, after which the server
 * cancels a query and says so. */
#define SERVER_ANSWER_NS (310 * SP_NS_PER_S)

#define SERVER_SMALL_BYTES ((size_t)1 << 20)

/* A query and its connection to the server. */
typedef struct server_call {
  const sp_report_server *server;
  sp_command_client client;
  uint64_t from_ms;
  uint64_t until_ms; /* inclusive */
  sp_buffer url;
  sp_buffer body;
  sp_http_answer answer;
} server_call;

static void server_parameter(sp_buffer *url, const char *name,
                             const char *value) {
  if (!value)
    return;
  sp_buffer_format(url, "&%s=", name);
  sp_buffer_form_encode(url, value, strlen(value));
}

/* Send a GET request for `path`, with the query, the type and the time range as
 * parameters. The answer is in call->answer and call->body. */
static spanprof_status server_query(server_call *call, const char *path,
                                    const char *type, size_t bytes_max) {
  sp_http_fetch fetch = {
      .type = type, .bytes_max = bytes_max, .time_max_ns = SERVER_ANSWER_NS};

  sp_buffer_clear(&call->url);
  sp_buffer_format(&call->url, "%s%s&from=%" PRIu64 "&until=%" PRIu64,
                   call->client.settings.server_address, path, call->from_ms,
                   call->until_ms);
  server_parameter(&call->url, "query", call->server->query);
  server_parameter(&call->url, "type", call->server->type);
  if (sp_buffer_status(&call->url))
    return sp_fail(SPANPROF_ERR_NOMEM, "out of memory");
  fetch.url = call->url.data;
  sp_http_client_fetch(call->client.http, &fetch, &call->body, &call->answer);
  return call->body.failed ? sp_fail(SPANPROF_ERR_NOMEM, "out of memory")
                           : SPANPROF_OK;
}

/* Set the error message for an answer that is not a success. answer->links is
 * set if the answer has the header Spanprof-Links, which only `spanprof serve`
 * sends. */
static spanprof_status server_check(const server_call *call) {
  const sp_http_answer *answer = &call->answer;
  const char *address = call->client.settings.server_address;
  const char *colon = answer->message[0] ? ": " : "";

  if (!answer->status)
    return sp_fail(SPANPROF_ERR_IO, "no answer from %s%s%s", address, colon,
                   answer->message);
  if (!answer->links)
    return sp_fail(SPANPROF_ERR_IO,
                   "%s answered %ld, but is not a `spanprof serve`: check "
                   "the host, port and path of the address",
                   address, answer->status);
  if (answer->status == 401)
    return sp_fail(SPANPROF_ERR_IO,
                   "%s refuses the token: set --token or PYROSCOPE_AUTH_TOKEN",
                   address);
  if (answer->status != 200 || answer->not_pyroscope)
    return sp_fail(SPANPROF_ERR_IO, "%s answered %ld%s%s", address,
                   answer->status, colon, answer->message);
  return SPANPROF_OK;
}

static void server_time(uint64_t unix_ms, char out[40]) {
  const time_t seconds = (time_t)(unix_ms / 1000);
  struct tm parts;

  if (!gmtime_r(&seconds, &parts) ||
      strftime(out, 40, "%Y-%m-%d %H:%M:%S UTC", &parts) == 0)
    snprintf(out, 40, "%" PRIu64, unix_ms);
}

/* Returns the number that follows `name`, such as "\"before\":", in the JSON
 * text; 0 for null. */
static uint64_t server_number(const sp_buffer *json, const char *name) {
  const char *at = json->size ? strstr(json->data, name) : NULL;

  uint64_t number = 0;

  if (at) {
    at += strlen(name);
    sp_number_read(&at, NULL, &number);
  }
  return number;
}

/* Set the error message if nothing was found: when the nearest profile was
 * recorded, or how to query an application. */
static spanprof_status server_nothing(server_call *call) {
  const char *query = call->server->query ? call->server->query : "any series";
  const char *address = call->client.settings.server_address;
  const size_t plain = strcspn(query, "{.");
  char from[40], until[40], near[40], more[200] = "";
  uint64_t ms = 0;
  spanprof_status st = server_query(call, "/api/v1/gaps?", "application/json",
                                    SERVER_SMALL_BYTES);

  if (st)
    return st;
  if (call->answer.status == 200) {
    ms = server_number(&call->body, "\"before\":");
    if (!ms)
      ms = server_number(&call->body, "\"after\":");
  }
  if (ms) {
    server_time(ms, near);
    snprintf(more, sizeof more, "; the nearest profile is from %s", near);
  } else if (call->server->query && plain && query[plain] != '.') {
    snprintf(more, sizeof more, "; to query an application, write %.*s.cpu",
             (int)sp_min_u64(plain, 80), query);
  }
  server_time(call->from_ms, from);
  server_time(call->until_ms, until);
  return sp_fail(SPANPROF_ERR_ARGUMENT,
                 "%s: nothing found for %s from %s to %s%s", address, query,
                 from, until, more);
}

static spanprof_status server_add(const server_call *call, sp_report *report) {
  sp_pprof *profile = NULL;
  uint64_t merged;
  spanprof_status st =
      sp_pprof_read(&profile, report->mem, call->body.data, call->body.size);

  if (st == SPANPROF_ERR_NOMEM)
    return sp_fail(st, "out of memory");
  if (st)
    return sp_fail(st,
                   "%s: the answer is malformed or too large: limit it "
                   "with --query, --from or --until",
                   call->client.settings.server_address);
  st = sp_report_add(report, profile, NULL);
  merged = sp_measure_comment(profile, "merged: ");
  if (!st && merged)
    report->profiles += merged - 1;
  sp_pprof_free(profile);
  return st;
}

static spanprof_status server_run(server_call *call, sp_report *report) {
  spanprof_status st =
      server_query(call, "/api/v1/profile?format=pprof&labels=1",
                   "application/octet-stream", SP_PPROF_UNPACKED_MAX);

  if (!st)
    st = server_check(call);
  if (st)
    return st;
  return call->body.size ? server_add(call, report) : server_nothing(call);
}

spanprof_status sp_report_server_read(const sp_report_server *server,
                                      const sp_command_io *io,
                                      sp_report *report) {
  const uint64_t now_ns = sp_clock_unix_ns(sp_clock_system());
  const uint64_t until_ns = server->until_ns ? server->until_ns : now_ns;
  server_call call = {.server = server, .until_ms = (until_ns - 1) / 1000000};
  spanprof_status st;

  call.from_ms = server->from_ns / 1000000;
  if (!server->from_ns && until_ns > SERVER_HOUR_NS)
    call.from_ms = (until_ns - SERVER_HOUR_NS) / 1000000;
  sp_buffer_init(&call.url, io->mem);
  sp_buffer_init(&call.body, io->mem);
  st = sp_command_client_open(&call.client, io, server->address, server->token);
  if (!st)
    st = server_run(&call, report);
  sp_command_client_dispose(&call.client);
  sp_buffer_dispose(&call.url);
  sp_buffer_dispose(&call.body);
  return st;
}
