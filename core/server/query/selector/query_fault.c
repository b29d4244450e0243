#include "query_fault.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

spanprof_status sp_query_refuse(sp_query_fault *fault, const char *code,
                                const char *format, ...) {
  va_list arguments;

  if (fault->code)
    return SPANPROF_ERR_ARGUMENT;
  fault->code = code;
  va_start(arguments, format);
  vsnprintf(fault->message, sizeof fault->message, format, arguments);
  va_end(arguments);
  return SPANPROF_ERR_ARGUMENT;
}

void sp_query_fault_add_hint(sp_query_fault *fault) {
  const size_t bytes = strlen(fault->message);

  if (*fault->hint)
    snprintf(fault->message + bytes, sizeof fault->message - bytes, "; %s",
             fault->hint);
  *fault->hint = '\0';
}

void sp_query_fault_prefix(sp_query_fault *fault, const char *format, ...) {
  char prefix[sizeof fault->message / 2];
  const size_t capacity = sizeof fault->message;
  va_list arguments;
  size_t bytes, kept;

  va_start(arguments, format);
  vsnprintf(prefix, sizeof prefix, format, arguments);
  va_end(arguments);
  bytes = strlen(prefix);
  kept = strnlen(fault->message, capacity - bytes - 1);
  memmove(fault->message + bytes, fault->message, kept);
  memcpy(fault->message, prefix, bytes);
  fault->message[bytes + kept] = '\0';
}
