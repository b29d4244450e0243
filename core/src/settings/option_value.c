#include "option_value.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "util/system/status.h"
#include "util/text/utf8.h"

#define OPTION_SENTENCE_BYTES 384

void sp_option_origin(const sp_option_value *given, char *out, size_t size) {
  if (given->variable)
    snprintf(out, size, "%s (from %s)", given->option, given->variable);
  else
    snprintf(out, size, "%s", given->option);
}

spanprof_status sp_option_refuse(const sp_option_value *given,
                                 const char *format, ...) {
  char name[SP_OPTION_SHOWN_BYTES], sentence[OPTION_SENTENCE_BYTES];
  va_list arguments;

  va_start(arguments, format);
  vsnprintf(sentence, sizeof sentence, format, arguments);
  va_end(arguments);
  sp_option_origin(given, name, sizeof name);
  return sp_fail(SPANPROF_ERR_ARGUMENT, "%s %s", name, sentence);
}

void sp_option_show(const char *text, size_t bytes,
                    char out[SP_OPTION_SHOWN_BYTES]) {
  size_t used = sp_utf8_printable(text, bytes, out, SP_OPTION_SHOWN_BYTES - 4);

  /* Cleaning does not change the number of bytes, so a shorter result was
   * truncated. */
  if (used < bytes) {
    memcpy(out + used, "...", 3);
    used += 3;
  }
  out[used] = '\0';
}

bool sp_option_is_empty(const sp_option_value *given) {
  return !given->text || !*given->text;
}

spanprof_status sp_option_no_memory(void) {
  return sp_fail(SPANPROF_ERR_NOMEM, "out of memory while reading options");
}
