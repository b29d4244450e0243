/* The memory of all requests' bodies and answers.
 *
 * Who: libmicrohttpd's threads, each for the calls of its own connections. */
#ifndef SP_HTTP_BUDGET_H
#define SP_HTTP_BUDGET_H

#include "call.h"

/* All zero at the start. */
typedef struct sp_http_budget {
  _Atomic uint64_t bodies;  /* bytes of bodies being read or processed */
  _Atomic uint64_t answers; /* bytes that are on their way */
} sp_http_budget;

/* Append a piece to the call's body, or drop it all with a fault. MHD_NO: it
 * does not end. */
enum MHD_Result sp_http_budget_body(sp_http_budget *budget, sp_http_call *call,
                                    const char *bytes, size_t size);

void sp_http_budget_drop(sp_http_budget *budget, sp_http_call *call,
                         sp_http_fault fault);

/* Queue the call's answer, or 503 where there is no room for it. */
enum MHD_Result sp_http_budget_answer(sp_http_budget *budget,
                                      sp_http_call *call);

/* Give back what the call has. */
void sp_http_budget_end(sp_http_budget *budget, const sp_http_call *call);

#endif
