/* The value of an option with its origin, so that an error message can name the
 * option and the environment variable. */
#ifndef SP_OPTION_VALUE_H
#define SP_OPTION_VALUE_H

#include "util/base.h"

typedef struct sp_option_value {
  const char *option; /* such as "sample_rate_hz" */
  /* Environment variable of the value, such as "PYROSCOPE_SAMPLE_RATE". NULL:
   * the value is from the call, or the default. */
  const char *variable;
  const char *text; /* may be NULL */
  int64_t number;   /* value of a numeric option */
} sp_option_value;

/* Set the last error to "option (from VARIABLE) <format>". Returns
 * SPANPROF_ERR_ARGUMENT. The format must not contain secrets. */
spanprof_status sp_option_refuse(const sp_option_value *given,
                                 const char *format, ...) SP_PRINTF(2, 3);

/* Write "option" or "option (from VARIABLE)", truncated to `size`. */
void sp_option_origin(const sp_option_value *given, char *out, size_t size);

#define SP_OPTION_SHOWN_BYTES 80

/* Copy a text for a message, as clean UTF-8 on one line. A long text is
 * truncated and ends with "...". */
void sp_option_show(const char *text, size_t bytes,
                    char out[SP_OPTION_SHOWN_BYTES]);

/* Is given->text "" or NULL, so that the option is switched off? */
bool sp_option_is_empty(const sp_option_value *given);

/* Set the last error to "out of memory while reading options", and return
 * SPANPROF_ERR_NOMEM. */
spanprof_status sp_option_no_memory(void);

#endif
