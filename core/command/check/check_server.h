/* Does the server take uploads: one empty probe, by the way uploads go. */
#ifndef SP_CHECK_SERVER_H
#define SP_CHECK_SERVER_H

#include "check_list.h"
#include "settings/settings.h"

/* Says "server", and what of "proxy", "TLS" and "credentials" is configured.
 * Nothing is stored: an empty Push is refused as such ("no profiles received",
 * 400) after the credentials were looked at, an empty /ingest is taken and
 * thrown away (both of Pyroscope 3fe6a457a). */
void sp_check_server(sp_check_list *list, const sp_settings *settings);

#endif
