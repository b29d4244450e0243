#include "query_plan.h"

#include <malloc.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "server/query/selector/label_lexer.h"
#include "util/text/hex.h"

#define PLAN_TYPE_PARTS 5

static void *plan_resize(void *data, void *old, size_t size) {
  sp_query *query = data;
  const sp_mem *mem = query->serve->mem;
  const size_t before = old ? malloc_usable_size(old) : 0;
  void *p;

  if (size > before && !query->is_large &&
      query->bytes + (size - before) > SP_HTTP_SMALL_MAX) {
    query->is_large = sp_http_try_large(query->http);
    query->response->needs_large = !query->is_large;
    if (!query->is_large)
      return NULL;
  }
  p = mem->resize(mem->data, old, size);
  if (p)
    query->bytes += malloc_usable_size(p);
  if (p || !size)
    query->bytes -= before;
  return p;
}

void sp_query_init(sp_query *query, sp_serve *serve,
                   const sp_http_request *http, sp_http_response *response) {
  memset(query, 0, sizeof *query);
  query->serve = serve;
  query->http = http;
  query->response = response;
  query->limited = (sp_mem){.resize = plan_resize, .data = query};
  query->mem = http->is_limited ? &query->limited : serve->mem;
  sp_arena_init(&query->arena, query->mem, SP_QUERY_MEMORY_MAX);
}

void sp_query_dispose(sp_query *query) {
  sp_arena_dispose(&query->arena);
}

spanprof_status sp_query_end(sp_query *query) {
  const spanprof_status st = sp_cancel_check(query->http->cancel);

  return st ? st : sp_buffer_status(&query->response->body);
}

spanprof_status sp_query_invalid(sp_query *query, const char *format, ...) {
  char message[sizeof query->fault.message];
  va_list arguments;

  va_start(arguments, format);
  vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  return sp_query_refuse(&query->fault, SP_CODE_INVALID, "%s", message);
}

static void plan_cancelled(sp_query *query) {
  switch (atomic_load(&query->http->cancel->reason)) {
  case SP_CANCEL_STOP:
    sp_query_refuse(&query->fault, SP_CODE_UNAVAILABLE,
                    "the server is stopping; try again once it is back");
    break;
  case SP_CANCEL_CLIENT_GONE:
    sp_query_refuse(&query->fault, SP_CODE_CANCELED,
                    "the client has closed its side of the connection");
    break;
  default:
    sp_query_refuse(&query->fault, SP_CODE_DEADLINE,
                    "the query took longer than the client's timeout");
  }
}

void sp_query_explain(sp_query *query, spanprof_status st) {
  const char *sentence = spanprof_last_error();

  if (!sentence || !*sentence)
    sentence = spanprof_status_text(st);
  switch (st) {
  case SPANPROF_ERR_TIMEOUT:
    plan_cancelled(query);
    break;
  case SPANPROF_ERR_NOMEM:
  case SPANPROF_ERR_LIMIT:
    query->response->needs_large = query->http->is_limited && !query->is_large;
    sp_query_refuse(&query->fault, SP_CODE_EXHAUSTED,
                    "the query needs more memory than it may use; request "
                    "a shorter range or fewer series");
    break;
  case SPANPROF_ERR_IO:
    sp_query_refuse(&query->fault, SP_CODE_UNAVAILABLE, "%s", sentence);
    break;
  default:
    sp_query_refuse(&query->fault, SP_CODE_INTERNAL, "%s", sentence);
  }
}

void sp_query_plan_init(sp_query_plan *plan, sp_query *query) {
  memset(plan, 0, sizeof *plan);
  plan->query = query;
  plan->selector.mem = query->mem;
  plan->selector.from_ms = INT64_MIN;
  plan->selector.until_ms = INT64_MAX;
  plan->selector.cancel = query->http->cancel;
  sp_matcher_list_init(&plan->matchers, query->mem, &query->arena);
}

void sp_query_plan_dispose(sp_query_plan *plan) {
  if (plan->query)
    sp_matcher_list_dispose(&plan->matchers);
}

/* Returns the number of parts of a profile type. *fifth_end is the end of the
 * fifth. */
static size_t type_parts(const char *type, const char **fifth_end) {
  size_t parts = 1;
  const char *p;

  *fifth_end = type + strlen(type);
  for (p = type; *p; p++)
    if (*p == ':' && ++parts == PLAN_TYPE_PARTS + 1)
      *fifth_end = p;
  return parts;
}

bool sp_profile_type_valid(const char *type) {
  const char *end;
  const size_t parts = type_parts(type, &end);

  /* The optional sixth part is "delta". Pyroscope accepts any text in it,
   * because a sample type may contain a colon. */
  return parts == PLAN_TYPE_PARTS || parts == PLAN_TYPE_PARTS + 1;
}

spanprof_status sp_query_plan_type(sp_query_plan *plan, const char *type) {
  const char *end, *copy;
  const size_t parts = type_parts(type ? type : "", &end);

  if (!type || !sp_profile_type_valid(type))
    return sp_query_invalid(plan->query,
                            "profile-type selection must be of the form "
                            "<name>:<sample-type>:<sample-unit>:<period-type>:"
                            "<period-unit>(:delta), got(%zu): \"%s\"",
                            parts, type ? type : "");
  copy = sp_arena_text(&plan->query->arena, type, (size_t)(end - type));
  if (!copy)
    return plan->query->arena.st;
  plan->selector.profile_type = copy;
  return SPANPROF_OK;
}

spanprof_status sp_query_plan_range(sp_query_plan *plan, int64_t start_ms,
                                    int64_t end_ms) {
  if (start_ms == 0 || end_ms == 0)
    return sp_query_invalid(plan->query, "missing time range in the query");
  if (start_ms > end_ms)
    return sp_query_invalid(plan->query, "query start time is after end time");
  plan->selector.from_ms = start_ms;
  plan->selector.until_ms = end_ms;
  return SPANPROF_OK;
}

/* An id of zeros means "no span", so it selects nothing. */
spanprof_status sp_query_plan_spans(sp_query_plan *plan, const sp_texts *ids) {
  uint64_t *numbers =
      sp_arena_new(&plan->query->arena, ids->count + 1, sizeof *numbers);
  size_t i, count = 0;

  if (!numbers)
    return plan->query->arena.st;
  for (i = 0; i < ids->count; i++) {
    if (strlen(ids->texts[i]) != 16)
      return sp_query_invalid(plan->query, "invalid span id length: \"%s\"",
                              ids->texts[i]);
    if (!sp_hex_read(ids->texts[i], 16, &numbers[count]))
      return sp_query_invalid(plan->query,
                              "invalid span id, which is 16 hexadecimal "
                              "digits: \"%s\"",
                              ids->texts[i]);
    if (numbers[count] != 0)
      count++;
  }
  if (ids->count > 0 && count == 0)
    plan->nothing = true;
  plan->selector.span_ids = numbers;
  plan->selector.span_count = count;
  return SPANPROF_OK;
}

spanprof_status sp_query_plan_traces(sp_query_plan *plan, const sp_texts *ids) {
  sp_trace_id *traces =
      sp_arena_new(&plan->query->arena, ids->count + 1, sizeof *traces);
  size_t i, count = 0;

  if (!traces)
    return plan->query->arena.st;
  for (i = 0; i < ids->count; i++) {
    if (strlen(ids->texts[i]) != 32)
      return sp_query_invalid(plan->query, "invalid trace id length: \"%s\"",
                              ids->texts[i]);
    if (!sp_hex_read(ids->texts[i], 16, &traces[count].hi) ||
        !sp_hex_read(ids->texts[i] + 16, 16, &traces[count].lo))
      return sp_query_invalid(plan->query,
                              "invalid trace id, which is 32 hexadecimal "
                              "digits: \"%s\"",
                              ids->texts[i]);
    if (traces[count].hi || traces[count].lo)
      count++;
  }
  if (ids->count > 0 && count == 0)
    plan->nothing = true;
  plan->selector.trace_ids = traces;
  plan->selector.trace_count = count;
  return SPANPROF_OK;
}

/* Parse a UUID: "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx", which may be in braces
 * or after "urn:uuid:", or 32 digits without hyphens. */
static bool plan_uuid(const char *text, sp_profile_uuid *out) {
  const size_t size = strlen(text);
  const bool is_braced = size == 38 && text[0] == '{' && text[37] == '}';
  size_t i;
  uint64_t byte;

  if (is_braced)
    text++;
  else if (size == 45 && strncasecmp(text, "urn:uuid:", 9) == 0)
    text += 9;
  else if (size != 36 && size != 32)
    return false;
  for (i = 0; i < sizeof out->bytes; i++, text += 2) {
    if (size != 32 && (i == 4 || i == 6 || i == 8 || i == 10) && *text++ != '-')
      return false;
    if (!sp_hex_read(text, 2, &byte))
      return false;
    out->bytes[i] = (uint8_t)byte;
  }
  return true;
}

spanprof_status sp_query_plan_profiles(sp_query_plan *plan,
                                       const sp_texts *ids) {
  sp_profile_uuid *profiles =
      sp_arena_new(&plan->query->arena, ids->count + 1, sizeof *profiles);
  size_t i;

  if (!profiles)
    return plan->query->arena.st;
  for (i = 0; i < ids->count; i++) {
    if (!plan_uuid(ids->texts[i], &profiles[i]))
      return sp_query_invalid(plan->query,
                              "invalid UUID, which is 32 hexadecimal digits "
                              "with 4 hyphens or without: \"%s\"",
                              ids->texts[i]);
  }
  plan->selector.profiles = profiles;
  plan->selector.profile_count = ids->count;
  return SPANPROF_OK;
}

/* Insert `before` and the quoted selector before the message of the query's
 * fault. */
static spanprof_status plan_blame(sp_query *query, const char *before,
                                  const char *text, spanprof_status st) {
  sp_buffer quoted;

  if (st != SPANPROF_ERR_ARGUMENT)
    return st;
  sp_buffer_init(&quoted, query->mem);
  sp_label_quote(&quoted, text, strlen(text));
  if (!quoted.failed)
    sp_query_fault_prefix(&query->fault, "%s %s: ", before, quoted.data);
  sp_buffer_dispose(&quoted);
  return st;
}

spanprof_status sp_query_plan_labels(sp_query_plan *plan, const char *text) {
  return plan_blame(
      plan->query, "parsing label selector", text,
      sp_label_query_parse(&plan->matchers, text, NULL, &plan->query->fault));
}

spanprof_status sp_query_plan_matchers(sp_query_plan *plan,
                                       const sp_texts *texts) {
  size_t i;
  spanprof_status st = SPANPROF_OK;

  for (i = 0; !st && i < texts->count; i++)
    st = plan_blame(plan->query, "failed to parse label selector",
                    texts->texts[i],
                    sp_label_query_parse(&plan->matchers, texts->texts[i], NULL,
                                         &plan->query->fault));
  return st;
}

spanprof_status sp_query_plan_request(sp_query_plan *plan,
                                      const sp_query_request *request) {
  spanprof_status st = sp_query_plan_type(plan, request->profile_type);

  if (!st && request->traces.count > 0 && request->spans.count > 0)
    st = sp_query_invalid(
        plan->query, "span_selector and trace_id_selector cannot be combined");
  if (!st)
    st = sp_query_plan_range(plan, request->start_ms, request->end_ms);
  if (!st)
    st = sp_query_plan_labels(plan, request->selector ? request->selector : "");
  if (!st)
    st = sp_query_plan_spans(plan, &request->spans);
  if (!st)
    st = sp_query_plan_traces(plan, &request->traces);
  if (!st)
    st = sp_query_plan_profiles(plan, &request->profiles);
  return st;
}

const sp_selector *sp_query_plan_selector(sp_query_plan *plan) {
  plan->selector.matchers = plan->matchers.matchers;
  plan->selector.matcher_count = plan->matchers.count;
  if (plan->nothing) { /* a range of times that no profile can have */
    plan->selector.from_ms = 1;
    plan->selector.until_ms = 0;
  }
  return &plan->selector;
}

spanprof_status sp_query_plan_done(sp_query_plan *plan, spanprof_status st) {
  if (sp_matcher_list_gave_up(&plan->matchers))
    return sp_query_invalid(plan->query, "a regular expression of the query "
                                         "takes too long to match");
  return st;
}
