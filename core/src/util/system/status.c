#include "status.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "util/memory/mem.h"
#include "util/text/utf8.h"

#define STATUS_SENTENCE_BYTES 512

/* The message is stored per thread, because a failed start has no session
 * object that could store it. It is thread-specific data, not in the static TLS
 * block, where all libraries share some 1,600 bytes. */
static pthread_once_t status_once = PTHREAD_ONCE_INIT;
static pthread_key_t status_key;
static bool status_made; /* `status_key` was created */

static void sentence_free(void *sentence) {
  sp_mem_free(&sp_mem_default, sentence);
}

static void status_make(void) {
  status_made = pthread_key_create(&status_key, sentence_free) == 0;
}

/* The calling thread's message, or NULL. */
static char *sentence_get(void) {
  pthread_once(&status_once, status_make);
  return status_made ? pthread_getspecific(status_key) : NULL;
}

/* Get the calling thread's message, which is allocated if there is none.
 * Returns NULL if there is no memory. */
static char *sentence_make(void) {
  char *sentence = sentence_get();

  if (sentence || !status_made)
    return sentence;
  sentence = sp_mem_zero(&sp_mem_default, STATUS_SENTENCE_BYTES);
  if (pthread_setspecific(status_key, sentence) == 0)
    return sentence;
  sentence_free(sentence);
  return NULL;
}

/* Make the message safe to show: it may contain file names, addresses and
 * messages of other libraries. */
static void sentence_clean(char *sentence) {
  size_t size = sp_utf8_printable(sentence, strlen(sentence), sentence,
                                  STATUS_SENTENCE_BYTES - 1);

  sentence[size] = '\0';
}

spanprof_status sp_fail(spanprof_status status, const char *format, ...) {
  char *sentence = sentence_make();
  va_list arguments;

  va_start(arguments, format);
  if (sentence) {
    vsnprintf(sentence, STATUS_SENTENCE_BYTES, format, arguments);
    sentence_clean(sentence);
  }
  va_end(arguments);
  return status;
}

spanprof_status sp_fail_errno(spanprof_status status, int error,
                              const char *format, ...) {
  char sentence[STATUS_SENTENCE_BYTES];
  va_list arguments;

  va_start(arguments, format);
  vsnprintf(sentence, sizeof sentence, format, arguments);
  va_end(arguments);
  return sp_fail(status, "%s: %s", sentence, strerror(error));
}

const char *spanprof_last_error(void) {
  const char *sentence = sentence_get();

  return sentence ? sentence : "";
}

SP_SIGNAL_SAFE const char *spanprof_status_text(spanprof_status status) {
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
