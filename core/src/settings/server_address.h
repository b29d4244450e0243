/* The base URL of the server, checked and normalized, and the credentials that
 * it contained. */
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

/* Parse the address. Returns SPANPROF_ERR_ARGUMENT if it is not an http or
 * https URL, has no host, has an invalid port, has a query or fragment, or has
 * a user without a password. The error message never contains credentials. If
 * the function fails, `out` is empty. */
spanprof_status sp_server_address_parse(sp_server_address *out,
                                        const sp_mem *mem,
                                        const sp_option_value *given);
void sp_server_address_dispose(sp_server_address *address);

#endif
