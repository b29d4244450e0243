/* The connection of a command to a server, with the settings of the
 * environment, as in a profiled program. */
#ifndef SP_COMMAND_CLIENT_H
#define SP_COMMAND_CLIENT_H

#include "command_io.h"
#include "export/http/http_client.h"

typedef struct sp_command_client {
  sp_settings settings;
  sp_http_client *http;
} sp_command_client;

/* `server` and `token` replace PYROSCOPE_SERVER_ADDRESS and
 * PYROSCOPE_AUTH_TOKEN if they are not NULL. The caller sets `client` to zero
 * before, and disposes of it also after a failure. A failure sets the error
 * message. */
spanprof_status sp_command_client_open(sp_command_client *client,
                                       const sp_command_io *io,
                                       const char *server, const char *token);
void sp_command_client_dispose(sp_command_client *client);

#endif
