/* The server's base URL: checked, normalised, without credentials. */
#ifndef SP_SERVER_ADDRESS_H
#define SP_SERVER_ADDRESS_H

#include "given.h"
#include "util/memory/mem.h"

typedef struct sp_server_address {
  const sp_mem *mem;
  char *url;      /* "https://host:port/path": no credentials, no slash last */
  bool encrypted; /* https */
  char *user;     /* percent-decoded; NULL: the URL had none */
  char *password;
} sp_server_address;

/* SPANPROF_ERR_ARGUMENT, in a sentence that never shows credentials: not an
 * http or https URL, no host, bad port, with a query or fragment, a user
 * without a password. On failure `out` is empty. */
spanprof_status sp_server_address_parse(sp_server_address *out,
                                        const sp_mem *mem,
                                        const sp_given *given);
void sp_server_address_dispose(sp_server_address *address);

#endif
