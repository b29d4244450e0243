/* Each option's value, and where it came from. */
#ifndef SP_OPTION_TABLE_H
#define SP_OPTION_TABLE_H

#include "given.h"
#include "option_list.h"
#include "util/memory/buffer.h"

typedef struct sp_option_values {
#define SP_OPTION_FIELD(name, ...) sp_given name;
  SP_OPTION_LIST(SP_OPTION_FIELD)
#undef SP_OPTION_FIELD
} sp_option_values;

/* Whether a caller's structure reaches as far as the end of `field`. */
#define SP_OPTION_REACHES(options, field) \
  ((options)->struct_size >=              \
   offsetof(spanprof_options, field) + sizeof((spanprof_options *)0)->field)

/* Set the list's fields, as far as struct_size reaches, to "not given". */
void sp_option_table_unset(spanprof_options *options, size_t struct_size);

/* Each option's value: the call's, else the first variable that is set and not
 * "" (PYROSCOPE_PROXY and PYROSCOPE_NO_PROXY may be ""), else the default.
 * Texts point into `options` and `environment`. SPANPROF_ERR_ARGUMENT names
 * the option and its variable. */
spanprof_status sp_option_table_read(sp_option_values *out,
                                     const spanprof_options *options,
                                     char *const *environment,
                                     sp_buffer *notes);

#define SP_OPTION_LEVELS "debug, info, warn, error or off"

/* Read a log level by its name, in any case. Returns false if `text` is none.
 */
bool sp_option_level(const char *text, int64_t *out);

/* Whether a variable belongs to an option. */
bool sp_option_table_knows(const char *variable, size_t bytes);

#endif
