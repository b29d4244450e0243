/* The credentials of requests, and a check whether a message contains them. */
#ifndef SP_CREDENTIALS_H
#define SP_CREDENTIALS_H

#include "settings/settings.h"

typedef struct sp_credentials {
  const sp_mem *mem;
  char *authorization; /* header line, or NULL */
  char *proxy_user;    /* "user:password" of the proxy's URL, or NULL */
  /* `authorization`, `proxy_user` and the secrets of the settings. */
  const char **secrets;
  size_t secret_count;
} sp_credentials;

/* Read the credentials. `settings` must outlive `out`. Returns
 * SPANPROF_ERR_NOMEM if out of memory; `out` is then empty. */
spanprof_status sp_credentials_init(sp_credentials *out, const sp_mem *mem,
                                    const sp_settings *settings);
void sp_credentials_dispose(sp_credentials *credentials);

/* Does `text` contain a secret, as it is or with JSON escapes? The first half
 * of a secret counts as the secret, because servers, proxies and libcurl
 * truncate what they repeat. Call this function before the text is truncated.
 */
bool sp_credentials_appear(const sp_credentials *credentials, const char *text,
                           size_t size);

#endif
