/* The credentials of requests, and a check that they appear in no message. */
#ifndef SP_CREDENTIALS_H
#define SP_CREDENTIALS_H

#include "settings/settings.h"

typedef struct sp_credentials {
  const sp_mem *mem;
  char *authorization;  /* header line, or NULL */
  char *proxy_user;     /* "user:password" of the proxy's URL, or NULL */
  const char **secrets; /* these and the settings' secrets */
  size_t secret_count;
} sp_credentials;

/* Read the credentials. `settings` must outlive them. SPANPROF_ERR_NOMEM: `out`
 * is empty. */
spanprof_status sp_credentials_init(sp_credentials *out, const sp_mem *mem,
                                    const sp_settings *settings);
void sp_credentials_dispose(sp_credentials *credentials);

/* Does `text` contain a secret, as it is or with JSON escapes? Half of a secret
 * counts, because servers, proxies and libcurl truncate what they repeat. Call
 * this before truncating the text. */
bool sp_credentials_appear(const sp_credentials *credentials, const char *text,
                           size_t size);

#endif
