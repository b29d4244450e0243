/* Reads the options about the server: address, credentials, headers, TLS,
 * proxy. */
#ifndef SP_SERVER_SETTINGS_H
#define SP_SERVER_SETTINGS_H

#include "option_table.h"
#include "settings.h"

/* Set the server's part of `out`, whose mem is set. After a failure,
 * sp_settings_dispose() frees the fields that were set. No message or note
 * contains credentials. */
spanprof_status sp_server_settings_read(sp_settings *out,
                                        const sp_option_values *values,
                                        char *const *environment,
                                        sp_buffer *notes);

/* Copy given->text. "" and NULL give NULL. SPANPROF_ERR_NOMEM. */
spanprof_status sp_settings_copy(const sp_mem *mem,
                                 const sp_option_value *given, char **out);

#endif
