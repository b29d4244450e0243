#include "command_client.h"

#include "session/options.h"
#include "util/memory/buffer.h"
#include "util/system/status.h"

spanprof_status sp_command_client_open(sp_command_client *client,
                                       const sp_command_io *io,
                                       const char *server, const char *token) {
  spanprof_options options;
  spanprof_status st;
  sp_buffer notes;

  st = spanprof_options_init(&options, sizeof options);
  if (st)
    return st;
  options.server_address = server;
  options.auth_token = token;
  /* Clear the directories: a command does not use them, so they must not cause
   * errors. */
  options.output_directory = options.spool_directory = "";
  sp_buffer_init(&notes, io->mem);
  st = sp_settings_read(&client->settings, io->mem, &options, io->environment,
                        &notes);
  sp_buffer_dispose(&notes);
  if (!st && !client->settings.server_address)
    st = sp_fail(SPANPROF_ERR_ARGUMENT,
                 "no server: set --server or PYROSCOPE_SERVER_ADDRESS");
  if (!st)
    st = sp_http_client_new(&client->http, io->mem, &client->settings,
                            sp_clock_system());
  return st;
}

void sp_command_client_dispose(sp_command_client *client) {
  sp_http_client_free(client->http);
  sp_settings_dispose(&client->settings);
}
