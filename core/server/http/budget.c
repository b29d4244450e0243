#include "budget.h"

/* Limits for the sum of all bodies. A body above BODY_LARGE may grow while the
 * sum is at most BODIES_LARGE_MAX, a smaller body while it is at most
 * BODIES_MAX. The difference is thus always available to small bodies. */
#define BODIES_MAX       ((uint64_t)80 << 20)
#define BODIES_LARGE_MAX ((uint64_t)68 << 20)
#define BODY_LARGE       ((size_t)1 << 20)
/* Longest wait for the next piece of a large body. */
#define BODY_LARGE_IDLE_SECONDS 10u

/* Largest size of a refused body that is still read, so that its sender gets an
 * answer instead of a closed connection. */
#define BODY_SWALLOWED_MAX ((size_t)256 << 20)

/* Small answers are always sent. Larger answers are sent while the sum stays
 * below ANSWERS_MAX. An answer of any size is sent if the other answers use at
 * most ANSWERS_FEW bytes. */
#define ANSWERS_MAX  ((uint64_t)32 << 20)
#define ANSWERS_FEW  ((uint64_t)1 << 20)
#define ANSWER_SMALL ((size_t)64 << 10)

void sp_http_budget_drop(sp_http_budget *budget, sp_http_call *call,
                         sp_http_fault fault) {
  call->request.fault = fault;
  sp_buffer_dispose(&call->body);
  atomic_fetch_sub(&budget->bodies, call->counted);
  call->counted = 0;
}

static void budget_append(sp_http_budget *budget, sp_http_call *call,
                          const char *bytes, size_t size) {
  const bool was_large = call->counted > BODY_LARGE;
  const bool is_large = call->counted + size > BODY_LARGE;

  if (is_large && !was_large)
    MHD_set_connection_option(call->connection, MHD_CONNECTION_OPTION_TIMEOUT,
                              BODY_LARGE_IDLE_SECONDS);
  call->counted += size;
  if (atomic_fetch_add(&budget->bodies, size) + size >
      (is_large ? BODIES_LARGE_MAX : BODIES_MAX)) {
    sp_http_budget_drop(budget, call, SP_HTTP_FAULT_BUSY);
    return;
  }
  sp_buffer_append(&call->body, bytes, size);
  if (sp_buffer_status(&call->body))
    sp_http_budget_drop(budget, call, SP_HTTP_FAULT_BUSY);
}

enum MHD_Result sp_http_budget_body(sp_http_budget *budget, sp_http_call *call,
                                    const char *bytes, size_t size) {
  call->body_seen += size;
  if (call->body_seen > BODY_SWALLOWED_MAX)
    return MHD_NO;
  if (!call->route || call->request.fault)
    return MHD_YES;
  if (call->body_seen > call->route->body_max)
    sp_http_budget_drop(budget, call, SP_HTTP_FAULT_TOO_LARGE);
  else
    budget_append(budget, call, bytes, size);
  return MHD_YES;
}

enum MHD_Result sp_http_budget_answer(sp_http_budget *budget,
                                      sp_http_call *call) {
  const uint64_t others = atomic_load(&budget->answers);
  sp_http_response *response = &call->response;
  enum MHD_Result queued;

  if (response->body.size > ANSWER_SMALL && others > ANSWERS_FEW &&
      others + response->body.size > ANSWERS_MAX) {
    sp_buffer_dispose(&response->body);
    response->gzip = false;
    sp_http_answer(response, MHD_HTTP_SERVICE_UNAVAILABLE, "text/plain",
                   "too many answers wait for slow clients, try again\n");
  }
  queued = sp_http_call_answer(call);
  call->answer_counted = response->body.size;
  atomic_fetch_add(&budget->answers, call->answer_counted);
  return queued;
}

void sp_http_budget_end(sp_http_budget *budget, const sp_http_call *call) {
  atomic_fetch_sub(&budget->bodies, call->counted);
  atomic_fetch_sub(&budget->answers, call->answer_counted);
}
