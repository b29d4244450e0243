#include "status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define STATUS_SENTENCE_BYTES 512

/* Per thread, because a refused start has no session to ask. Too large for the
 * static TLS block; no signal handler touches it. */
static _Thread_local char status_sentence[STATUS_SENTENCE_BYTES];

spanprof_status sp_fail(spanprof_status status, const char *format, ...) {
  va_list arguments;

  va_start(arguments, format);
  vsnprintf(status_sentence, sizeof status_sentence, format, arguments);
  va_end(arguments);
  return status;
}

spanprof_status sp_fail_errno(spanprof_status status, int error,
                              const char *format, ...) {
  va_list arguments;
  size_t used;

  va_start(arguments, format);
  vsnprintf(status_sentence, sizeof status_sentence, format, arguments);
  va_end(arguments);
  used = strlen(status_sentence);
  snprintf(status_sentence + used, sizeof status_sentence - used, ": %s",
           strerror(error));
  return status;
}

const char *spanprof_last_error(void) {
  return status_sentence;
}

const char *spanprof_status_text(spanprof_status status) {
  switch (status) {
#define STATUS_CASE(name, value, text) \
  case SPANPROF_##name:                \
    return text;
    SPANPROF_STATUSES(STATUS_CASE)
#undef STATUS_CASE
  case SPANPROF_STATUS_FORCE_INT:
    break;
  }
  return "unknown status";
}

const char *spanprof_version(void) {
  return SPANPROF_VERSION;
}
