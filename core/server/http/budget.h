/* Limits for the memory of all request bodies, and of all answers.
 *
 * libmicrohttpd's threads call these functions, each for the calls of its own
 * connections. */
#ifndef SP_HTTP_BUDGET_H
#define SP_HTTP_BUDGET_H

#include "call.h"

/* The owner sets it to zeros at the start. */
typedef struct sp_http_budget {
  _Atomic uint64_t bodies;  /* bytes of bodies that are being read or
                             * processed */
  _Atomic uint64_t answers; /* bytes of answers that are being sent */
} sp_http_budget;

/* Append a piece to the call's body. If the body is too large, or there is no
 * memory for it, drop it and set the request's `fault`. Returns MHD_NO if the
 * body is so long that the connection must be closed. */
enum MHD_Result sp_http_budget_body(sp_http_budget *budget, sp_http_call *call,
                                    const char *bytes, size_t size);

void sp_http_budget_drop(sp_http_budget *budget, sp_http_call *call,
                         sp_http_fault fault);

/* Queue the call's answer, or an answer with status 503 if there is no memory
 * for it. */
enum MHD_Result sp_http_budget_answer(sp_http_budget *budget,
                                      sp_http_call *call);

/* Subtract the call's bytes from the budget, at the end of the call. */
void sp_http_budget_end(sp_http_budget *budget, const sp_http_call *call);

#endif
