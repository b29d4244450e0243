/* The server's base URL, checked and normalized, without credentials. */
#ifndef SP_SERVER_ADDRESS_H
#define SP_SERVER_ADDRESS_H

#include "option_value.h"
#include "util/memory/mem.h"

typedef struct sp_server_address {
  const sp_mem *mem;
  char *url; /* "https://host:port/path", without credentials and trailing slash
              */
  bool encrypted; /* the scheme is https */
  char *user;     /* percent-decoded; NULL: not in the URL */
  char *password;
} sp_server_address;

/* Parse the address. SPANPROF_ERR_ARGUMENT: not an http or https URL, no host,
 * an invalid port, a query or fragment, or a user without a password. The
 * message never contains credentials. On failure `out` is empty. */
spanprof_status sp_server_address_parse(sp_server_address *out,
                                        const sp_mem *mem,
                                        const sp_option_value *given);
void sp_server_address_dispose(sp_server_address *address);

#endif
