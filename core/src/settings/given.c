#include "given.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "util/system/status.h"
#include "util/text/utf8.h"

#define GIVEN_SENTENCE_BYTES 384

void sp_given_name(const sp_given *given, char *out, size_t size) {
  if (given->variable)
    snprintf(out, size, "%s (from %s)", given->option, given->variable);
  else
    snprintf(out, size, "%s", given->option);
}

spanprof_status sp_given_refuse(const sp_given *given, const char *format,
                                ...) {
  char name[SP_SHOWN_BYTES], sentence[GIVEN_SENTENCE_BYTES];
  va_list arguments;

  va_start(arguments, format);
  vsnprintf(sentence, sizeof sentence, format, arguments);
  va_end(arguments);
  sp_given_name(given, name, sizeof name);
  return sp_fail(SPANPROF_ERR_ARGUMENT, "%s %s", name, sentence);
}

void sp_given_show(const char *text, size_t bytes, char out[SP_SHOWN_BYTES]) {
  size_t used = sp_utf8_printable(text, bytes, out, SP_SHOWN_BYTES - 4);

  /* Cleaning keeps the number of bytes, so a shorter result was truncated. */
  if (used < bytes) {
    memcpy(out + used, "...", 3);
    used += 3;
  }
  out[used] = '\0';
}

bool sp_given_empty(const sp_given *given) {
  return !given->text || !*given->text;
}

spanprof_status sp_given_no_memory(void) {
  return sp_fail(SPANPROF_ERR_NOMEM, "out of memory while reading options");
}
