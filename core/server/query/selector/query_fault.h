/* An error in a query, as it is reported to the client. */
#ifndef SP_QUERY_FAULT_H
#define SP_QUERY_FAULT_H

#include "util/base.h"

/* The Connect error codes in use. sp_connect_status() maps them to HTTP
 * statuses: https://connectrpc.com/docs/protocol/#error-codes */
#define SP_CODE_INVALID       "invalid_argument"
#define SP_CODE_UNIMPLEMENTED "unimplemented"
#define SP_CODE_NOT_FOUND     "not_found"
#define SP_CODE_EXISTS        "already_exists"
#define SP_CODE_EXHAUSTED     "resource_exhausted"
#define SP_CODE_UNAVAILABLE   "unavailable"
#define SP_CODE_CANCELED      "canceled"
#define SP_CODE_DEADLINE      "deadline_exceeded"
#define SP_CODE_INTERNAL      "internal"

typedef struct sp_query_fault {
  const char *code; /* NULL: no error */
  uint32_t column;  /* column of the error in the selector, from 1; 0:
                     * unknown */
  char message[2048];
  /* Advice for the message, or "". Calls of Pyroscope's API omit it, because
   * their messages are those of Pyroscope. */
  char hint[256];
} sp_query_fault;

/* Set *fault, unless it has an error already. Returns SPANPROF_ERR_ARGUMENT. */
spanprof_status sp_query_refuse(sp_query_fault *fault, const char *code,
                                const char *format, ...) SP_PRINTF(3, 4);

/* Append the hint to the message. */
void sp_query_fault_add_hint(sp_query_fault *fault);

/* Insert a text before the message. */
void sp_query_fault_prefix(sp_query_fault *fault, const char *format, ...)
    SP_PRINTF(2, 3);

#endif
