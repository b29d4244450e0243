/* A bound for the memory of all bodies and answers.
 *
 * Threads: libmicrohttpd's, each for the calls of its own connections. */
#ifndef SP_HTTP_BUDGET_H
#define SP_HTTP_BUDGET_H

#include "call.h"

/* All zero at the start. */
typedef struct sp_http_budget {
  _Atomic uint64_t bodies;  /* bytes that are being read or processed */
  _Atomic uint64_t answers; /* bytes that are being sent */
} sp_http_budget;

/* Append a piece to the call's body, or set a fault and drop the whole body.
 * MHD_NO if the body is so long that the connection must be closed. */
enum MHD_Result sp_http_budget_body(sp_http_budget *budget, sp_http_call *call,
                                    const char *bytes, size_t size);

void sp_http_budget_drop(sp_http_budget *budget, sp_http_call *call,
                         sp_http_fault fault);

/* Queue the call's answer, or 503 if there is no memory for it. */
enum MHD_Result sp_http_budget_answer(sp_http_budget *budget,
                                      sp_http_call *call);

/* Release the call's bytes. */
void sp_http_budget_end(sp_http_budget *budget, const sp_http_call *call);

#endif
