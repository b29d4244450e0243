/* The memory of all requests' bodies and answers.
 *
 * Who: libmicrohttpd's threads, each for the calls of its own connections. */
#ifndef SP_HTTP_BUDGET_H
#define SP_HTTP_BUDGET_H

#include "call.h"

typedef struct sp_http_budget {
  pthread_mutex_t turn;     /* held by the call that may use much memory */
  _Atomic uint64_t bodies;  /* bytes of bodies being read or processed */
  _Atomic uint64_t answers; /* bytes that are on their way */
  _Atomic uint64_t large;   /* calls that have, or wait for, their turn */
} sp_http_budget;

void sp_http_budget_init(sp_http_budget *budget); /* `budget` is all zero / */

/* Called on the handler's thread: begin_turn before the handler of a call that
 * must have its turn, end_turn after every handler. */
void sp_http_budget_begin_turn(sp_http_call *call);
void sp_http_budget_end_turn(sp_http_call *call);

/* Append a piece to the call's body, or drop it all with a fault. MHD_NO: it
 * does not end. */
enum MHD_Result sp_http_budget_body(sp_http_budget *budget, sp_http_call *call,
                                    const char *bytes, size_t size);

void sp_http_budget_drop(sp_http_budget *budget, sp_http_call *call,
                         sp_http_fault fault);

/* After each time that the handler was asked: whether it is to be asked again
 * in the call's turn. Where too many wait, the answer is 503. */
bool sp_http_budget_turn(sp_http_budget *budget, sp_http_call *call);

/* Queue the call's answer, or 503 where there is no room for it. */
enum MHD_Result sp_http_budget_answer(sp_http_budget *budget,
                                      sp_http_call *call);

/* Give back what the call has. */
void sp_http_budget_end(sp_http_budget *budget, const sp_http_call *call);

#endif
