/* What is wrong with a query, as it is told to who asked. */
#ifndef SP_QUERY_FAULT_H
#define SP_QUERY_FAULT_H

#include "util/base.h"

/* Connect's codes that are used here; sp_connect_status() knows their statuses:
 * https://connectrpc.com/docs/protocol/#error-codes */
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
  const char *code; /* NULL: nothing is wrong */
  uint32_t column;  /* of the selector, from 1; 0: not known */
  char message[2048];
} sp_query_fault;

/* Keep the first fault; returns SPANPROF_ERR_ARGUMENT. */
spanprof_status sp_query_refuse(sp_query_fault *fault, const char *code,
                                const char *format, ...) SP_PRINTF(3, 4);

/* Put "WHAT: " before the message. */
void sp_query_fault_prefix(sp_query_fault *fault, const char *format, ...)
    SP_PRINTF(2, 3);

#endif
