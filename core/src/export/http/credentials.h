/* How we prove who we are, and keeping that out of every message. */
#ifndef SP_CREDENTIALS_H
#define SP_CREDENTIALS_H

#include "settings/settings.h"

typedef struct sp_credentials {
  const sp_mem *mem;
  char *authorization;  /* header line; NULL: none */
  char *proxy_user;     /* "user:password" of the proxy's URL; NULL: none */
  const char **secrets; /* of these and of the settings */
  size_t secret_count;
} sp_credentials;

/* `settings` outlive it. SPANPROF_ERR_NOMEM: nothing is held. */
spanprof_status sp_credentials_init(sp_credentials *out, const sp_mem *mem,
                                    const sp_settings *settings);
void sp_credentials_dispose(sp_credentials *credentials);

/* Does `text` show one of them, as it is or with JSON's escapes? Half of one
 * counts, because servers, proxies and libcurl cut what they echo: so ask
 * before any cut of ours. */
bool sp_credentials_appear(const sp_credentials *credentials, const char *text,
                           size_t size);

#endif
