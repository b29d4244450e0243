/* The value of an option with its origin, so that a refusal can name the option
 * and the variable. */
#ifndef SP_OPTION_VALUE_H
#define SP_OPTION_VALUE_H

#include "util/base.h"

typedef struct sp_option_value {
  const char *option;   /* such as "sample_rate_hz" */
  const char *variable; /* such as "PYROSCOPE_SAMPLE_RATE"; NULL: from the call,
                         * or the default */
  const char *text;     /* may be NULL */
  int64_t number;       /* value of a numeric option */
} sp_option_value;

/* Set the last error to "option (from VARIABLE) <format>". Returns
 * SPANPROF_ERR_ARGUMENT. The format must not contain secrets. */
spanprof_status sp_option_refuse(const sp_option_value *given,
                                 const char *format, ...) SP_PRINTF(2, 3);

/* Write "option" or "option (from VARIABLE)", truncated to `size`. */
void sp_option_origin(const sp_option_value *given, char *out, size_t size);

#define SP_OPTION_SHOWN_BYTES 80

/* Copy a text for a message: clean UTF-8 on one line, truncated with "...". */
void sp_option_show(const char *text, size_t bytes,
                    char out[SP_OPTION_SHOWN_BYTES]);

/* Is `text` "" or NULL? Then the option is switched off. */
bool sp_option_is_empty(const sp_option_value *given);

/* Set the last error, and return SPANPROF_ERR_NOMEM. */
spanprof_status sp_option_no_memory(void);

#endif
