/* The descriptors of libcurl in this process: the sockets of its connections,
 * which libcurl reports, and those for its wake-ups, which it does not report.
 *
 * A forked child closes its copies. The connections continue in the parent,
 * because closing a copy sends nothing. The child does not call libcurl,
 * because another thread of the parent may have been inside of it. */
#ifndef SP_CLIENT_SOCKETS_H
#define SP_CLIENT_SOCKETS_H

#include <curl/curl.h>
#include <sys/types.h>

#include "util/base.h"

/* Two connections while addresses are tried, two descriptors for wake-ups, and
 * spare ones. */
#define SP_CLIENT_SOCKETS 8

typedef struct sp_client_socket {
  dev_t device; /* identifies the socket, because other code may have closed the
                 * descriptor */
  ino_t inode;
  _Atomic int fd_plus_1; /* descriptor + 1; 0: the slot is free */
} sp_client_socket;

typedef struct sp_client_sockets {
  sp_client_socket all[SP_CLIENT_SOCKETS];
} sp_client_sockets;

/* Only the thread that uses the client calls these functions, except
 * sp_client_sockets_close(). */

/* Have `easy` report its connections. */
CURLcode sp_client_sockets_watch(sp_client_sockets *sockets, CURL *easy);

/* Find the one or two descriptors by which curl_multi_wakeup() wakes `multi`.
 * Without /proc, or if they cannot be identified, a forked child keeps copies
 * of them. */
void sp_client_sockets_find(sp_client_sockets *sockets, CURLM *multi);

/* Close the copies in a forked child, whatever the thread was doing. */
void sp_client_sockets_close(sp_client_sockets *sockets);

#endif
