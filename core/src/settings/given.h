/* A value as the user gave it, and where it came from, so that a refusal can
 * name the option and the variable. */
#ifndef SP_GIVEN_H
#define SP_GIVEN_H

#include "util/base.h"

typedef struct sp_given {
  const char *option;   /* "sample_rate_hz" */
  const char *variable; /* "PYROSCOPE_SAMPLE_RATE"; NULL: by call, default */
  const char *text;     /* NULL: none */
  int64_t number;       /* for options that are numbers */
} sp_given;

/* One sentence, "option (from VARIABLE) <format>", for spanprof_last_error().
 * Returns SPANPROF_ERR_ARGUMENT. The caller keeps secrets out of it. */
spanprof_status sp_given_refuse(const sp_given *given, const char *format, ...)
    SP_PRINTF(2, 3);

/* "option" or "option (from VARIABLE)", cut to `size`. */
void sp_given_name(const sp_given *given, char *out, size_t size);

#define SP_SHOWN_BYTES 80

/* A text for quoting in a sentence: clean UTF-8 on one line, cut with "...". */
void sp_given_show(const char *text, size_t bytes, char out[SP_SHOWN_BYTES]);

/* Whether `text` is "" or NULL: an option that was switched off. */
bool sp_given_empty(const sp_given *given);

/* Out of memory, with its sentence. */
spanprof_status sp_given_no_memory(void);

#endif
