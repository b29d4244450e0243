/* Reads the value and the origin of each option. */
#ifndef SP_OPTION_TABLE_H
#define SP_OPTION_TABLE_H

#include "option_list.h"
#include "option_value.h"
#include "util/memory/buffer.h"

typedef struct sp_option_values {
#define SP_OPTION_FIELD(name, ...) sp_option_value name;
  SP_OPTION_LIST(SP_OPTION_FIELD)
#undef SP_OPTION_FIELD
} sp_option_values;

/* Does a caller's structure contain the whole of `field`? */
#define SP_OPTION_REACHES(options, field) \
  ((options)->struct_size >=              \
   offsetof(spanprof_options, field) + sizeof((spanprof_options *)0)->field)

/* Set the fields of all options in SP_OPTION_LIST that are within struct_size
 * to "not given". */
void sp_option_table_unset(spanprof_options *options, size_t struct_size);

/* Read each option: the value in `options`; if that is not given, the value of
 * the first variable that is set and not "" (PYROSCOPE_PROXY and
 * PYROSCOPE_NO_PROXY may be ""); if there is none, the default. Texts point
 * into `options` and `environment`. Returns SPANPROF_ERR_ARGUMENT if a value is
 * invalid; the last error names the option and its variable. */
spanprof_status sp_option_table_read(sp_option_values *out,
                                     const spanprof_options *options,
                                     char *const *environment,
                                     sp_buffer *notes);

/* Read a value by its name, in any case, for an option of the kind LEVEL or
 * NATIVE. Returns false if the kind has no value with this name. */
bool sp_option_name(sp_option_kind kind, const char *text, int64_t *out);

/* The names of a kind, for an error message. */
const char *sp_option_names(sp_option_kind kind);

/* Is `variable` an environment variable of an option? */
bool sp_option_table_knows(const char *variable, size_t bytes);

#endif
