/* Reads the options about the server: its address, credentials, headers, TLS
 * and the proxy. */
#ifndef SP_SERVER_SETTINGS_H
#define SP_SERVER_SETTINGS_H

#include "option_table.h"
#include "settings.h"

/* Set the fields of `out` that are about the server. out->mem must be set. If
 * the function fails, the caller still calls sp_settings_dispose(), which frees
 * the fields that were set. No message or note contains credentials. */
spanprof_status sp_server_settings_read(sp_settings *out,
                                        const sp_option_values *values,
                                        char *const *environment,
                                        sp_buffer *notes);

/* Copy given->text. *out is NULL if the text is "" or NULL. Returns SPANPROF_OK
 * or SPANPROF_ERR_NOMEM. */
spanprof_status sp_settings_copy(const sp_mem *mem,
                                 const sp_option_value *given, char **out);

#endif
