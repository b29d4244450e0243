/* The server that a command asks: the settings of the environment, as in a
 * program that is profiled, and a connection. */
#ifndef SP_COMMAND_CLIENT_H
#define SP_COMMAND_CLIENT_H

#include "command_io.h"
#include "export/http/http_client.h"

typedef struct sp_command_client {
  sp_settings settings;
  sp_http_client *http;
} sp_command_client;

/* `server` and `token` are in place of PYROSCOPE_SERVER_ADDRESS and
 * PYROSCOPE_AUTH_TOKEN where they are not NULL. Zero before; dispose of it also
 * after a failure, which is said in a sentence. */
spanprof_status sp_command_client_open(sp_command_client *client,
                                       const sp_command_io *io,
                                       const char *server, const char *token);
void sp_command_client_dispose(sp_command_client *client);

#endif
