/* Checks whether the server accepts uploads. Sends one empty upload. */
#ifndef SP_CHECK_SERVER_H
#define SP_CHECK_SERVER_H

#include "check_list.h"
#include "settings/settings.h"

/* Print the result "server", and the results "proxy", "TLS" and "credentials"
 * if these are configured. Nothing is stored: Pyroscope (3fe6a457a) checks the
 * credentials, and then refuses an empty Push ("no profiles received", 400), or
 * accepts and discards an empty /ingest. */
void sp_check_server(sp_check_list *list, const sp_settings *settings);

#endif
