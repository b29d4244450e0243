/* The options about the server: address, credentials, headers, TLS, proxy. */
#ifndef SP_SERVER_SETTINGS_H
#define SP_SERVER_SETTINGS_H

#include "option_table.h"
#include "settings.h"

/* Fill in the server's part of `out`, whose mem is set; what was filled in
 * before a failure stays for sp_settings_dispose(). Credentials never come
 * into a sentence or a note. */
spanprof_status sp_server_settings_read(sp_settings *out,
                                        const sp_option_values *values,
                                        char *const *environment,
                                        sp_buffer *notes);

/* A copy of given->text; "" and NULL give NULL. SPANPROF_ERR_NOMEM. */
spanprof_status sp_settings_copy(const sp_mem *mem, const sp_given *given,
                                 char **out);

#endif
